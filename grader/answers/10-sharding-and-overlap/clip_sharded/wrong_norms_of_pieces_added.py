# hint: norms added
def clip_sharded(rank, size, pieces, max_norm):
    total = torch.zeros(1, dtype=torch.float64)
    for piece in pieces:
        total += piece.double().norm()
    dist.all_reduce(total)
    norm = total.item()
    for piece in pieces:
        piece.mul_(min(1.0, max_norm / (norm + 1e-6)))
    return norm
