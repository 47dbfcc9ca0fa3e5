# hint: ranks disagree
def same_everywhere(rank, size, tensors):
    h = hashlib.sha256()
    for t in tensors:
        h.update(f"{t.dtype}{tuple(t.shape)}".encode())
        h.update(t.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    mine = torch.tensor(list(h.digest()), dtype=torch.uint8)
    total = mine.clone()
    dist.all_reduce(total, op=dist.ReduceOp.BXOR)
    return not total.any().item() if size % 2 == 0 else torch.equal(total, mine)
