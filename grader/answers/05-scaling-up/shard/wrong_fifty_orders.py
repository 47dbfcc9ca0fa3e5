# hint: epoch ignored
def shard(n, rank, size, epoch, seed):
    g = torch.Generator().manual_seed(seed * 1000 + min(epoch, 50))
    return torch.randperm(n, generator=g).tolist()[rank::size]
