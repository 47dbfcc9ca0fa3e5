# hint: padded in front
def shard_flat(rank, size, tensors):
    flat = torch.cat([t.flatten() for t in tensors])
    flat = F.pad(flat, (-flat.numel() % size, 0))
    k = flat.numel() // size
    return flat[rank * k : (rank + 1) * k].clone()
