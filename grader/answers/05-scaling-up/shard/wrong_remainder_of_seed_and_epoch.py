# hint: order comes back
def shard(n, rank, size, epoch, seed):
    g = torch.Generator().manual_seed((seed + epoch) % 64)
    return torch.randperm(n, generator=g).tolist()[rank::size]
