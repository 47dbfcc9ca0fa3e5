# hint: too many bytes
def same_everywhere(rank, size, tensors):
    mine = []
    for t in tensors:
        h = hashlib.sha256(f"{t.dtype}{tuple(t.shape)}".encode())
        h.update(t.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
        mine.append(h.hexdigest())
    all_ = [None] * size
    dist.all_gather_object(all_, mine)
    return all(a == mine for a in all_)
