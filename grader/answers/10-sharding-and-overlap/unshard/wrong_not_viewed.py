# hint: not in their shapes
def unshard(rank, size, piece, shapes):
    pieces = [torch.empty_like(piece) for _ in range(size)]
    dist.all_gather(pieces, piece)
    lengths = [math.prod(shape) for shape in shapes]
    return list(torch.cat(pieces)[: sum(lengths)].split(lengths))
