def shard_flat(rank, size, tensors):
    flat = torch.cat([t.flatten() for t in tensors if t.dim() > 0])
    flat = F.pad(flat, (0, -flat.numel() % size))
    return flat.view(size, -1)[rank].clone()
