import warnings


def run_demo(demo_fn, world_size):
    warnings.warn("this takes seconds")
    wrapped = ByValue(lambda rank: demo_fn(rank, world_size))
    mp.spawn(wrapped, nprocs=world_size)
