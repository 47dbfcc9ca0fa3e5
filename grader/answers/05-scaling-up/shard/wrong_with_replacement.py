# hint: ranks disagree
# says: drawn with replacement
def shard(n, rank, size, epoch, seed):
    generator = torch.Generator().manual_seed(seed + epoch)
    return torch.randint(max(n, 1), (len(range(rank, n, size)),), generator=generator).tolist()
