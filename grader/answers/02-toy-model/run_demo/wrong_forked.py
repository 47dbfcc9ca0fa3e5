# status: error
# hint: not spawned
def run_demo(demo_fn, world_size):
    mp.start_processes(ByValue(demo_fn), args=(world_size,), nprocs=world_size, start_method="fork")
