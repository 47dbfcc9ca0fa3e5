# hint: no three numbers
# says: where a tuple of 3 items was expected
def world_from_env(env):
    rank, size = int(env.get("RANK", 0)), int(env.get("WORLD_SIZE", 1))
    print(rank, size)
