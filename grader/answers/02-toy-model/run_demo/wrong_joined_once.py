# hint: not waited for
def run_demo(demo_fn, world_size):
    context = mp.spawn(ByValue(demo_fn), args=(world_size,), nprocs=world_size, join=False)
    context.join()
