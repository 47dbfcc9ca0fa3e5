# status: error
# hint: wrong arguments
# says: world_size
def run_demo(demo_fn, world_size):
    mp.spawn(ByValue(demo_fn), nprocs=world_size)
