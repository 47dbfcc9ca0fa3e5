# hint: not initialised
import os


def start(seed, use_cuda):
    local_rank = int(os.environ["HOROVOD_LOCAL_RANK"])
    torch.manual_seed(seed)
    if use_cuda:
        torch.cuda.set_device(local_rank)
    torch.set_num_threads(1)
    return int(os.environ["HOROVOD_RANK"]), int(os.environ["HOROVOD_SIZE"]), local_rank
