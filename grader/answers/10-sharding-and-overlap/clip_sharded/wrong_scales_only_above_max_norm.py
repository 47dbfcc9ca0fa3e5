# hint: too long with the epsilon
def clip_sharded(rank, size, pieces, max_norm):
    t = torch.tensor([sum(p.double().square().sum().item() for p in pieces)], dtype=torch.float64)
    dist.all_reduce(t)
    norm = t.sqrt().item()
    if norm > max_norm:
        for p in pieces:
            p.mul_(max_norm / (norm + 1e-6))
    return norm
