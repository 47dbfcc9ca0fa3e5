# hint: unequal lengths
def shard(n, rank, size, epoch, seed):
    generator = torch.Generator().manual_seed(seed + epoch)
    order = torch.randperm(n, generator=generator).tolist()
    share = n // size
    end = n if rank == size - 1 else (rank + 1) * share
    return order[rank * share : end]
