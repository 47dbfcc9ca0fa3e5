# hint: tensor for float
def clip_sharded(rank, size, pieces, max_norm):
    square = torch.tensor([sum((float(p.double().square().sum()) for p in pieces), 0.0)])
    dist.all_reduce(square)
    norm = square.sqrt()
    for p in pieces:
        p.mul_(torch.clamp(max_norm / (norm + 1e-6), max=1.0))
    return norm
