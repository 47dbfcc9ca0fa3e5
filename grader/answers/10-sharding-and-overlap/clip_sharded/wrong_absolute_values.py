# hint: another norm
def clip_sharded(rank, size, pieces, max_norm):
    total = torch.tensor([sum((float(p.abs().sum()) for p in pieces), 0.0)])
    dist.all_reduce(total)
    norm = total.item()
    for p in pieces:
        p.mul_(min(1.0, max_norm / (norm + 1e-6)))
    return norm
