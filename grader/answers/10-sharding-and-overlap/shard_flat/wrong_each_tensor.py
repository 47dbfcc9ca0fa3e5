# hint: each tensor apart
def shard_flat(rank, size, tensors):
    parts = []
    for t in tensors:
        flat = F.pad(t.flatten(), (0, -t.numel() % size))
        k = flat.numel() // size
        parts.append(flat[rank * k : (rank + 1) * k])
    return torch.cat(parts)
