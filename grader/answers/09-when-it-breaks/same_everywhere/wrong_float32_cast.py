# hint: not all of it
def same_everywhere(rank, size, tensors):
    h = hashlib.sha256()
    for t in tensors:
        h.update(f"{t.dtype}{tuple(t.shape)}".encode())
        x = t.detach().contiguous()
        x = torch.view_as_real(x) if x.is_complex() else x
        h.update(x.float().numpy().tobytes())
    mine = torch.tensor(list(h.digest()), dtype=torch.uint8)
    all_ = [torch.empty_like(mine) for _ in range(size)]
    dist.all_gather(all_, mine)
    return all(torch.equal(a, mine) for a in all_)
