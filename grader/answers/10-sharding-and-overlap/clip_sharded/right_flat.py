def clip_sharded(rank, size, pieces, max_norm):
    flat = torch.cat([torch.zeros(0, dtype=torch.float64), *(p.flatten().double() for p in pieces)])
    square = torch.dot(flat, flat).reshape(1)
    dist.all_reduce(square)
    norm = math.sqrt(square)
    for p in pieces:
        p.copy_(p * min(1, max_norm / (norm + 1e-6)))
    return norm
