# says: one is enough
def clip_sharded(rank, size, pieces, max_norm):
    told = torch.tensor([sum((float(p.double().square().sum()) for p in pieces), 0.0), len(pieces)])
    dist.all_reduce(told)
    norm = told[0].item() ** 0.5
    for p in pieces:
        p.mul_(min(1.0, max_norm / (norm + 1e-6)))
    return norm
