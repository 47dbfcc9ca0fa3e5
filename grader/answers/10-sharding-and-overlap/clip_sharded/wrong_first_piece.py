# status: error
def clip_sharded(rank, size, pieces, max_norm):
    square = pieces[0].square().sum().reshape(1)
    for p in pieces[1:]:
        square += p.square().sum()
    dist.all_reduce(square)
    norm = square.sqrt().item()
    for p in pieces:
        p.mul_(min(1.0, max_norm / (norm + 1e-6)))
    return norm
