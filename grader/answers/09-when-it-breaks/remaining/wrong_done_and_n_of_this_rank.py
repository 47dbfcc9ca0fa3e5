# hint: another order
# says: and others are missing
def remaining(n, epoch, seed, done, rank, size):
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed + epoch)).tolist()
    return order[rank::size][done // size : n // size]
