from torch.utils.data.distributed import DistributedSampler


def shard(n, rank, size, epoch, seed):
    sampler = DistributedSampler(range(n), num_replicas=size, rank=rank, shuffle=True, seed=seed)
    sampler.set_epoch(epoch)
    return list(sampler)[: len(range(rank, n, size))]
