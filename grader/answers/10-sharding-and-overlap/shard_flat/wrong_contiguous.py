# hint: shares memory
def shard_flat(rank, size, tensors):
    flat = torch.cat([t.flatten() for t in tensors])
    k = math.ceil(flat.numel() / size)
    flat = torch.cat([flat, torch.zeros(k * size - flat.numel(), dtype=flat.dtype)])
    return flat.split(k)[rank].contiguous() if k else flat
