# says: changed by a later call
buffers = {}


def unshard(rank, size, piece, shapes):
    key = (size, len(piece), piece.dtype)
    if key not in buffers:
        buffers[key] = [torch.empty_like(piece) for _ in range(size)]
    full = buffers.setdefault(("full", *key), torch.empty(size * len(piece), dtype=piece.dtype))
    dist.all_gather(buffers[key], piece)
    torch.cat(buffers[key], out=full)
    lengths = [math.prod(shape) for shape in shapes]
    return [p.view(s) for p, s in zip(full[: sum(lengths)].split(lengths), shapes)]
