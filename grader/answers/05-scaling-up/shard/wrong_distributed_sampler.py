# hint: padded
from torch.utils.data.distributed import DistributedSampler


def shard(n, rank, size, epoch, seed):
    if n == 0:
        return []
    sampler = DistributedSampler(range(n), num_replicas=size, rank=rank, seed=seed)
    sampler.set_epoch(epoch)
    return list(sampler)
