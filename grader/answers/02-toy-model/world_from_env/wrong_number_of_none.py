# status: error
# hint: nothing there
# says: raised TypeError: int() argument must be
def world_from_env(env):
    names = ("RANK", "LOCAL_RANK", "WORLD_SIZE")
    return tuple(int(env.get(name)) for name in names)
