def remaining(n, epoch, seed, done, rank, size):
    g = torch.Generator()
    g.manual_seed(seed + epoch)
    order = torch.randperm(n, generator=g)
    return order[done + rank :: size].tolist()
