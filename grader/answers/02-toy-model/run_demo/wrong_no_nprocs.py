# status: error
# hint: wrong number
# says: spawn was told nprocs=1, not 2
def run_demo(demo_fn, world_size):
    mp.spawn(ByValue(demo_fn), args=(world_size,))
