def run_demo(demo_fn, world_size):
    fn = ByValue(demo_fn)
    mp.spawn(fn=fn, args=(world_size,), nprocs=world_size, join=True, start_method="spawn")
    return None
