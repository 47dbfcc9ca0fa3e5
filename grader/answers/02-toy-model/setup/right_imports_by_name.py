from torch.cuda import device_count
from torch.distributed import init_process_group


def pick(world_size):
    return ["gloo", "nccl"][world_size <= device_count()]


def setup(rank, world_size, port):
    init_process_group(
        pick(world_size), f"tcp://127.0.0.1:{port}", world_size=world_size, rank=rank
    )
