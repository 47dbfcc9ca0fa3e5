# hint: only just too long
def clip_sharded(rank, size, pieces, max_norm):
    t = torch.tensor([sum(p.double().square().sum().item() for p in pieces)], dtype=torch.float64)
    dist.all_reduce(t)
    norm = t.sqrt().item()
    if norm > max_norm * 1.001:
        for p in pieces:
            p.mul_(min(1.0, max_norm / (norm + 1e-6)))
    return norm
