# hint: rest dropped
def shard_flat(rank, size, tensors):
    flat = torch.cat([t.flatten() for t in tensors])
    k = flat.numel() // size
    return flat[rank * k : (rank + 1) * k].clone()
