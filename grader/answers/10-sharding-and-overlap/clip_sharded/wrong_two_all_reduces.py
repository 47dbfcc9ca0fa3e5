# hint: several all-reduces
def clip_sharded(rank, size, pieces, max_norm):
    squares = torch.zeros(1, dtype=torch.float64)
    count = torch.zeros(1, dtype=torch.float64)
    for p in pieces:
        squares += p.double().square().sum()
        count += p.numel()
    dist.all_reduce(squares)
    dist.all_reduce(count)
    if not count:
        return 0.0
    norm = squares.sqrt().item()
    for p in pieces:
        p *= min(1.0, max_norm / (norm + 1e-6))
    return norm
