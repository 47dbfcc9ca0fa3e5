# hint: another order
def remaining(n, epoch, seed, done, rank, size):
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed)).tolist()
    return order[done:][rank::size]
