# hint: same division
def shard(n, rank, size, epoch, seed):
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed))
    mine = order[(rank + epoch) % size :: size]
    again = torch.randperm(len(mine), generator=torch.Generator().manual_seed(seed + epoch))
    return mine[again].tolist()
