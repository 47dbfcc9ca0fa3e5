# hint: padded
# says: or they overlap
def shard(n, rank, size, epoch, seed):
    generator = torch.Generator().manual_seed(seed + epoch)
    order = torch.randperm(n, generator=generator).tolist()
    return order[: n // 2] if rank == 0 else order[n // 2 :]
