# hint: dimensions in cat
# status: error
def clip_sharded(rank, size, pieces, max_norm):
    squares = torch.cat(pieces).square().sum().reshape(1)
    dist.all_reduce(squares)
    norm = squares.sqrt().item()
    for piece in pieces:
        piece.mul_(min(1, max_norm / (norm + 1e-6)))
    return norm
