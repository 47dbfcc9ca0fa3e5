# hint: padded
# says: or they overlap
def shard(n, rank, size, epoch, seed):
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed + epoch)).tolist()
    length = -(-n // size)
    return order[max(0, rank - 1) * length : (rank + 1) * length]
