# says: float32
def shard_flat(rank, size, tensors):
    flat = torch.cat([t.flatten() for t in tensors])
    k = -(-flat.numel() // size)
    piece = torch.zeros(k)
    mine = flat[rank * k : (rank + 1) * k]
    piece[: len(mine)] = mine
    return piece
