# hint: nothing returned
def shard_flat(rank, size, tensors):
    flat = torch.cat([t.flatten() for t in tensors])
    flat = F.pad(flat, (0, -flat.numel() % size))
    piece = flat.view(size, -1)[rank].clone()
