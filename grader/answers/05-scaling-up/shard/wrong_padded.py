# hint: padded
def shard(n, rank, size, epoch, seed):
    generator = torch.Generator().manual_seed(seed + epoch)
    order = torch.randperm(n, generator=generator).tolist()
    while n and len(order) % size:
        order += order[: size - len(order) % size]
    return order[rank::size]
