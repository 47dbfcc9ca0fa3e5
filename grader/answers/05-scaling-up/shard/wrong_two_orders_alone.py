# hint: order comes back
def shard(n, rank, size, epoch, seed):
    generator = torch.Generator().manual_seed(seed + epoch % 2)
    return torch.randperm(n, generator=generator)[rank::size].tolist()
