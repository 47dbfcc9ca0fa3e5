# says: no communication
def shard(n, rank, size, epoch, seed):
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed + epoch))
    dist.broadcast(order, src=0)
    return order[rank::size].tolist()
