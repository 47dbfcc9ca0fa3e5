import sys
import warnings


def start(seed, use_cuda):
    if not hvd.is_initialized():
        hvd.init()
    hvd.init()  # does nothing
    warnings.warn("one thread a worker", stacklevel=1)
    print("seeding", seed, file=sys.stderr)
    place = hvd.rank(), hvd.size(), hvd.local_rank()
    if use_cuda:
        torch.cuda.set_device(f"cuda:{place[2]}")
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    return place
