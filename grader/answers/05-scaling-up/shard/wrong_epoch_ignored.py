# hint: epoch ignored
def shard(n, rank, size, epoch, seed):
    generator = torch.Generator().manual_seed(seed)
    return torch.randperm(n, generator=generator)[rank::size].tolist()
