def remaining(n, epoch, seed, done, rank, size):
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed + epoch)).tolist()
    rest = order[done:]
    return rest[rank * len(rest) // size : (rank + 1) * len(rest) // size]
