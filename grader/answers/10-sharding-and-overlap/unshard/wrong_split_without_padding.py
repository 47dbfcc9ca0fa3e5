# hint: lengths of parts
# status: error
def unshard(rank, size, piece, shapes):
    pieces = [torch.empty_like(piece) for _ in range(size)]
    dist.all_gather(pieces, piece)
    parts = torch.cat(pieces).split([math.prod(shape) for shape in shapes])
    return [p.view(s) for p, s in zip(parts, shapes)]
