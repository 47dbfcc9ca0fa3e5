# hint: same piece everywhere
def shard_flat(rank, size, tensors):
    flat = torch.cat([t.flatten() for t in tensors])
    k = -(-flat.numel() // size)
    piece = torch.zeros(k, dtype=flat.dtype)
    piece[:] = flat[:k]
    return piece
