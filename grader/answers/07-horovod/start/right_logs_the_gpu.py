from horovod.torch import init, local_rank, rank, size
from torch.cuda import get_device_name, set_device


def start(seed, use_cuda):
    init()
    if use_cuda:
        set_device(local_rank())
        print("using", get_device_name(), torch.cuda.get_device_properties(0).total_memory)
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    return rank(), size(), local_rank()
