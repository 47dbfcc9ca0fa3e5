# hint: ranks disagree
def remaining(n, epoch, seed, done, rank, size):
    g = torch.Generator().manual_seed(seed + epoch + rank)
    return torch.randperm(n, generator=g).tolist()[done:][rank::size]
