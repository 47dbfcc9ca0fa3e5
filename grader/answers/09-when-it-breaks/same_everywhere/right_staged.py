def same_everywhere(rank, size, tensors):
    """A cheap look first: most differences show in a byte."""
    def agree(value, dtype):
        t = torch.tensor(value, dtype=dtype)
        lo, hi = t.clone(), t.clone()
        dist.all_reduce(lo, op=dist.ReduceOp.MIN)
        dist.all_reduce(hi, op=dist.ReduceOp.MAX)
        return torch.equal(lo, hi)
    h = hashlib.sha256()
    for t in tensors:
        h.update(f"{t.dtype}{tuple(t.shape)}".encode())
        h.update(t.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    d = list(h.digest())
    return agree(d[:1], torch.uint8) and agree(d, torch.uint8)
