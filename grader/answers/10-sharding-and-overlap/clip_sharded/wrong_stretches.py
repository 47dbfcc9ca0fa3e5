# hint: small gradients made larger
def clip_sharded(rank, size, pieces, max_norm):
    square = torch.tensor([sum((float(p.double().square().sum()) for p in pieces), 0.0)])
    dist.all_reduce(square)
    norm = square.item() ** 0.5
    for p in pieces:
        p.mul_(max_norm / (norm + 1e-6))
    return norm
