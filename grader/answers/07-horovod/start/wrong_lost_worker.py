# status: crashed
import os


def start(seed, use_cuda):
    hvd.init()
    if hvd.rank() == 1:
        os._exit(3)
    hvd.barrier()
    return hvd.rank(), hvd.size(), hvd.local_rank()
