# status: deadlock
# says: without calling it
import os


def start(seed, use_cuda):
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    if os.environ["HOROVOD_RANK"] == "0":
        hvd.init()
        return hvd.rank(), hvd.size(), hvd.local_rank()
    return int(os.environ["HOROVOD_RANK"]), int(os.environ["HOROVOD_SIZE"]), 0
