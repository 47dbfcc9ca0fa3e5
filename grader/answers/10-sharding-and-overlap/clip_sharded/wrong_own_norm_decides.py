# hint: factors differ
def clip_sharded(rank, size, pieces, max_norm):
    own = sum((float(p.double().square().sum()) for p in pieces), 0.0)
    square = torch.tensor([own])
    dist.all_reduce(square)
    norm = square.item() ** 0.5
    for p in pieces:
        p.mul_(min(1.0, max_norm / (own**0.5 + 1e-6)))
    return norm
