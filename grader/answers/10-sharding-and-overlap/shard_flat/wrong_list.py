# says: returned a list of 5 items where a tensor of shape (5,) was expected.
def shard_flat(rank, size, tensors):
    flat = torch.cat([t.flatten() for t in tensors])
    flat = F.pad(flat, (0, -flat.numel() % size))
    k = flat.numel() // size
    return flat[rank * k : (rank + 1) * k].tolist()
