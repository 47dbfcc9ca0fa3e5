# says: rank 0 returned 0 at [0][0, 0]
def unshard(rank, size, piece, shapes):
    everybody = [torch.zeros_like(piece) for _ in range(size)]
    dist.all_gather([part.clone() for part in everybody], piece)
    lengths = [math.prod(shape) for shape in shapes]
    parts = torch.cat(everybody)[: sum(lengths)].split(lengths)
    return [part.view(shape) for part, shape in zip(parts, shapes)]
