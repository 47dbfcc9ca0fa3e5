# says: returned True where None was expected.
def run_demo(demo_fn, world_size):
    mp.spawn(ByValue(demo_fn), args=(world_size,), nprocs=world_size)
    return True
