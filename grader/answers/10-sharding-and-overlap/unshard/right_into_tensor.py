def unshard(rank, size, piece, shapes):
    full = torch.empty(size * piece.numel(), dtype=piece.dtype)
    dist.all_gather_into_tensor(full, piece)
    tensors, at = [], 0
    for shape in shapes:
        n = math.prod(shape)
        tensors.append(full[at : at + n].view(shape))
        at += n
    return tensors
