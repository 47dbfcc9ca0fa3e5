# hint: wrong number
def run_demo(demo_fn, world_size):
    """The example's two in place of the argument: right in the example alone."""
    mp.spawn(ByValue(demo_fn), args=(2,), nprocs=world_size)
