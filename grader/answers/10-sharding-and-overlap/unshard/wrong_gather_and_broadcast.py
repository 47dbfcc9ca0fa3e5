# hint: another collective
def unshard(rank, size, piece, shapes):
    pieces = [torch.empty_like(piece) for _ in range(size)]
    dist.gather(piece, pieces if rank == 0 else None, dst=0)
    full = torch.cat(pieces)
    dist.broadcast(full, 0)
    lengths = [math.prod(shape) for shape in shapes]
    return [p.view(s) for p, s in zip(full[: sum(lengths)].split(lengths), shapes)]
