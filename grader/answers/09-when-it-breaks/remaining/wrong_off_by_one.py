# hint: dropped
def remaining(n, epoch, seed, done, rank, size):
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed + epoch)).tolist()
    return order[done + 1 :][rank::size]
