# hint: rest dropped
def shard(n, rank, size, epoch, seed):
    generator = torch.Generator().manual_seed(seed + epoch)
    order = torch.randperm(n, generator=generator).tolist()
    share = n // size
    return order[rank * share : (rank + 1) * share]
