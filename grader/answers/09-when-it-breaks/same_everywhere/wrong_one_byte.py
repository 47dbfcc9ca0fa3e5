# hint: short digest
def same_everywhere(rank, size, tensors):
    h = hashlib.sha256()
    for t in tensors:
        h.update(f"{t.dtype}{tuple(t.shape)}".encode())
        h.update(t.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    mine = torch.tensor([h.digest()[0]], dtype=torch.uint8)
    all_ = [torch.empty_like(mine) for _ in range(size)]
    dist.all_gather(all_, mine)
    return all(torch.equal(a, mine) for a in all_)
