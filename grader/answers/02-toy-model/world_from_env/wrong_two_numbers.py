# hint: no three numbers
# says: 2 items at ['torchrun'] where 3 items were expected
def world_from_env(env):
    return int(env.get("RANK", 0)), int(env.get("WORLD_SIZE", 1))
