# status: deadlock
# says: types
def clip_sharded(rank, size, pieces, max_norm):
    dtype = pieces[0].dtype if pieces else torch.float32
    square = torch.zeros(1, dtype=dtype)
    for p in pieces:
        square += p.square().sum()
    dist.all_reduce(square)
    norm = square.sqrt().item()
    for p in pieces:
        p.mul_(min(1.0, max_norm / (norm + 1e-6)))
    return norm
