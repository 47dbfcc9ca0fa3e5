# hint: no epsilon
def clip_sharded(rank, size, pieces, max_norm):
    squares = torch.zeros(1, dtype=torch.float64)
    for piece in pieces:
        squares += piece.double().square().sum().item()
    dist.all_reduce(squares)
    norm = squares.sqrt().item()
    for piece in pieces:
        piece *= min(1.0, max_norm / (norm + 1e-8))
    return norm
