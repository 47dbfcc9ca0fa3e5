from os import environ

from torch.cuda import device_count
from torch.distributed import init_process_group


def setup(rank, world_size, port):
    environ["MASTER_ADDR"] = "127.0.0.1"
    environ["MASTER_PORT"] = str(port)
    backend = "nccl" if world_size <= device_count() else "gloo"
    init_process_group(backend, rank=rank, world_size=world_size)
