# hint: another order
def remaining(n, epoch, seed, done, rank, size):
    order = torch.randperm(n - done, generator=torch.Generator().manual_seed(seed + epoch))
    return [done + int(i) for i in order][rank::size]
