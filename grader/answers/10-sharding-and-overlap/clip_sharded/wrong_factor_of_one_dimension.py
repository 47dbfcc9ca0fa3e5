# status: error
# hint: another shape in place
def clip_sharded(rank, size, pieces, max_norm):
    squares = torch.zeros(1, dtype=torch.float64)
    for piece in pieces:
        squares += piece.double().square().sum()
    dist.all_reduce(squares)
    norm = squares.sqrt()
    factor = torch.clamp(max_norm / (norm + 1e-6), max=1.0)
    for piece in pieces:
        piece *= factor.to(piece.dtype)
    return norm.item()
