# hint: same division
def shard(n, rank, size, epoch, seed):
    mine = torch.arange(rank, n, size)
    generator = torch.Generator().manual_seed(seed + epoch)
    return mine[torch.randperm(len(mine), generator=generator)].tolist()
