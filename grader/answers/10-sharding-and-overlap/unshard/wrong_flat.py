# hint: flat tensor returned
def unshard(rank, size, piece, shapes):
    pieces = [torch.empty_like(piece) for _ in range(size)]
    dist.all_gather(pieces, piece)
    return torch.cat(pieces)[: sum(math.prod(shape) for shape in shapes)]
