# status: error
# hint: wrong arguments
# says: positional argument
def run_demo(demo_fn, world_size):
    mp.spawn(ByValue(demo_fn), args=(0, world_size), nprocs=world_size)
