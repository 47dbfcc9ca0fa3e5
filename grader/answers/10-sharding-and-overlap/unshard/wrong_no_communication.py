# hint: no communication
def unshard(rank, size, piece, shapes):
    k = len(piece)
    full = torch.zeros(size * k, dtype=piece.dtype)
    full[rank * k : (rank + 1) * k] = piece
    lengths = [math.prod(shape) for shape in shapes]
    return [p.view(s) for p, s in zip(full[: sum(lengths)].split(lengths), shapes)]
