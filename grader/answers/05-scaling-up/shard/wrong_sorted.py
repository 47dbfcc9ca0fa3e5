# hint: not shuffled
def shard(n, rank, size, epoch, seed):
    generator = torch.Generator().manual_seed(seed + epoch)
    return sorted(torch.randperm(n, generator=generator)[rank::size].tolist())
