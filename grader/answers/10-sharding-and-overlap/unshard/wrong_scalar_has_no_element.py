# hint: single numbers skipped
def unshard(rank, size, piece, shapes):
    pieces = [torch.empty_like(piece) for _ in range(size)]
    dist.all_gather(pieces, piece)
    full, at, tensors = torch.cat(pieces), 0, []
    for shape in shapes:
        n = math.prod(shape) if shape else 0
        tensors.append(full[at : at + n].view(shape) if n else full.new_zeros(shape))
        at += n
    return tensors
