# hint: norm after clipping
def clip_sharded(rank, size, pieces, max_norm):
    square = torch.tensor([sum((float(p.double().square().sum()) for p in pieces), 0.0)])
    dist.all_reduce(square)
    norm = square.item() ** 0.5
    factor = min(1.0, max_norm / (norm + 1e-6))
    for p in pieces:
        p.mul_(factor)
    return norm * factor
