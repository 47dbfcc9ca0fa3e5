# status: deadlock
def clip_sharded(rank, size, pieces, max_norm):
    total = 0.0
    for p in pieces:
        square = p.square().sum()
        dist.all_reduce(square)
        total += square.item()
    norm = total**0.5
    for p in pieces:
        p.mul_(min(1.0, max_norm / (norm + 1e-6)))
    return norm
