# hint: some pieces not scaled
def clip_sharded(rank, size, pieces, max_norm):
    s = torch.zeros(1, dtype=torch.float64)
    for p in pieces:
        s += p.double().pow(2).sum()
    dist.all_reduce(s)
    norm = s.sqrt().item()
    for p in pieces[-1:]:
        p.mul_(min(1.0, max_norm / (norm + 1e-6)))
    return norm
