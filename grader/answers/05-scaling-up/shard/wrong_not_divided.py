# hint: not divided
def shard(n, rank, size, epoch, seed):
    generator = torch.Generator().manual_seed(seed + epoch)
    return torch.randperm(n, generator=generator).tolist()
