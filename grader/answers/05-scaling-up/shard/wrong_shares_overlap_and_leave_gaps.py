# hint: ranks disagree
# says: overlap and leave gaps
def shard(n, rank, size, epoch, seed):
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed + epoch)).tolist()
    return order[rank : rank + n // size]
