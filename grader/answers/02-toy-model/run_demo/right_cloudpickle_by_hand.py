import functools


def _unpack_and_run(rank, blob, world_size):
    return cloudpickle.loads(blob)(rank, world_size)


def run_demo(demo_fn, world_size):
    blob = cloudpickle.dumps(demo_fn)
    target = ByValue(functools.partial(_unpack_and_run, blob=blob, world_size=world_size))
    mp.spawn(target, nprocs=world_size)
