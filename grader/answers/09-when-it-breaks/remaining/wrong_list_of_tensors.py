# hint: no list of ints
def remaining(n, epoch, seed, done, rank, size):
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed + epoch))
    return list(order[done:][rank::size])
