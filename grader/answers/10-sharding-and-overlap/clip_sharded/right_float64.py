def clip_sharded(rank, size, pieces, max_norm):
    total = torch.tensor(sum(float((p.double() ** 2).sum()) for p in pieces), dtype=torch.float64)
    dist.all_reduce(total)
    norm = float(total) ** 0.5
    factor = min(1.0, max_norm / (norm + 1e-6))
    for p in pieces:
        p.mul_(factor)
    return norm
