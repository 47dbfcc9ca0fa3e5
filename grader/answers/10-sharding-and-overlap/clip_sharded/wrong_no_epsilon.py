# hint: no epsilon
def clip_sharded(rank, size, pieces, max_norm):
    square = torch.tensor([sum((float(p.double().square().sum()) for p in pieces), 0.0)])
    dist.all_reduce(square)
    norm = square.item() ** 0.5
    if norm > max_norm:
        for p in pieces:
            p.mul_(max_norm / norm)
    return norm
