# hint: number of tensors
def same_everywhere(rank, size, tensors):
    mine = []
    for t in tensors:
        h = hashlib.sha256(f"{t.dtype}{tuple(t.shape)}".encode())
        h.update(t.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
        mine.append(h.digest())
    everybody = [None] * size
    dist.all_gather_object(everybody, mine)
    return all(a == b for x in everybody for y in everybody for a, b in zip(x, y))
