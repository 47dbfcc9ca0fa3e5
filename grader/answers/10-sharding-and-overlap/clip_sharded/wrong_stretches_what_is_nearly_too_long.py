# hint: small gradients made larger
def clip_sharded(rank, size, pieces, max_norm):
    squares = torch.zeros(1, dtype=torch.float64)
    for p in pieces:
        squares += p.double().square().sum()
    dist.all_reduce(squares)
    norm = squares.sqrt().item()
    if norm + 1 > max_norm:  # and not norm + 1e-6
        for p in pieces:
            p *= max_norm / (norm + 1e-6)
    return norm
