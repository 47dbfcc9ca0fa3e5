# status: error
# hint: not by name
import functools


def run_demo(demo_fn, world_size):
    torch.multiprocessing.spawn(
        functools.partial(demo_fn), args=(world_size,), nprocs=world_size, join=True
    )
