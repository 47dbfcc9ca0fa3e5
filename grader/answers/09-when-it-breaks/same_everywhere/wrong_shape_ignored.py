# hint: shape or dtype
def same_everywhere(rank, size, tensors):
    h = hashlib.sha256()
    for t in tensors:
        h.update(str(t.dtype).encode())
        h.update(t.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    everybody = [None] * size
    dist.all_gather_object(everybody, h.hexdigest())
    return len(set(everybody)) == 1
