def shard(n, rank, size, epoch, seed):
    torch.manual_seed(seed + epoch)
    order = torch.randperm(n).tolist()
    return [index for place, index in enumerate(order) if place % size == rank]
