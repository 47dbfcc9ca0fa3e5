# hint: largest norm
def clip_sharded(rank, size, pieces, max_norm):
    norm = torch.tensor([sum((float(p.square().sum()) for p in pieces), 0.0) ** 0.5])
    dist.all_reduce(norm, op=dist.ReduceOp.MAX)
    norm = norm.item()
    for p in pieces:
        p.mul_(min(1.0, max_norm / (norm + 1e-6)))
    return norm
