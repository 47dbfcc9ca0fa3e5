# hint: failure swallowed
def run_demo(demo_fn, world_size):
    mp.spawn(ByValue(demo_fn), args=(2,), nprocs=2)
