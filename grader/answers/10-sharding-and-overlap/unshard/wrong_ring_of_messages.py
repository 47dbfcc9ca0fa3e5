# hint: another collective
def unshard(rank, size, piece, shapes):
    pieces = [torch.empty_like(piece) for _ in range(size)]
    pieces[rank] = piece
    for step in range(size - 1):
        out, into = (rank - step) % size, (rank - step - 1) % size
        request = dist.isend(pieces[out], (rank + 1) % size)
        dist.recv(pieces[into], (rank - 1) % size)
        request.wait()
    full = torch.cat(pieces)
    lengths = [math.prod(shape) for shape in shapes]
    return [p.view(s) for p, s in zip(full[: sum(lengths)].split(lengths), shapes)]
