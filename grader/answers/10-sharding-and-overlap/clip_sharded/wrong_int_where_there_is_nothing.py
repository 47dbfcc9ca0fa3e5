# status: deadlock
# says: types float32 and int64
def clip_sharded(rank, size, pieces, max_norm):
    square = torch.tensor([sum(p.double().square().sum().item() for p in pieces)])
    dist.all_reduce(square)
    norm = square.item() ** 0.5
    for p in pieces:
        p.mul_(min(1.0, max_norm / (norm + 1e-6)))
    return norm
