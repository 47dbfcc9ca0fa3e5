# hint: ranks disagree
def shard(n, rank, size, epoch, seed):
    generator = torch.Generator().manual_seed(seed + epoch + rank)
    return torch.randperm(n, generator=generator)[rank::size].tolist()
