def remaining(n, epoch, seed, done, rank, size):
    mine = []
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed + epoch)).tolist()
    for position, index in enumerate(order):
        if position >= done and (position - done) % size == rank:
            mine.append(index)
    return mine
