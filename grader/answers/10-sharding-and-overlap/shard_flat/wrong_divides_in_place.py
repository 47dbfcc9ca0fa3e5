# hint: arguments changed
def shard_flat(rank, size, tensors):
    for t in tensors:
        t.div_(1)
        t.add_(0.5)
    flat = torch.cat([t.flatten() for t in tensors]) - 0.5
    for t in tensors:
        t.sub_(0.25)
    flat = F.pad(flat, (0, -flat.numel() % size))
    return flat.view(size, -1)[rank].clone()
