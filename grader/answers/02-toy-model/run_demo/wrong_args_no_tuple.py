# status: error
# hint: args no tuple
def run_demo(demo_fn, world_size):
    mp.spawn(ByValue(demo_fn), args=(world_size), nprocs=world_size)
