# hint: not flat
def shard_flat(rank, size, tensors):
    flat = torch.cat([t.flatten() for t in tensors])
    flat = F.pad(flat, (0, -flat.numel() % size))
    return flat.view(size, -1)[rank : rank + 1].clone()
