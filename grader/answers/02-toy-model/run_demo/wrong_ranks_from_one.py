# status: error
# hint: wrong number
# says: ranks begin with 0
def run_demo(demo_fn, world_size):
    mp.spawn(ByValue(lambda rank: demo_fn(rank + 1, world_size)), nprocs=world_size)
