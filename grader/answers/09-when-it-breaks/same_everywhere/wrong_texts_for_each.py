# hint: too many bytes
def same_everywhere(rank, size, tensors):
    mine = []
    for t in tensors:
        p = t.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
        mine.append((str(t.dtype), tuple(t.shape), hashlib.sha256(p).hexdigest()))
    everybody = [None] * size
    dist.all_gather_object(everybody, mine)
    return all(e == mine for e in everybody)
