# hint: generator not seeded
def shard(n, rank, size, epoch, seed):
    return torch.randperm(n)[rank::size].tolist()
