# status: deadlock
def same_everywhere(rank, size, tensors):
    same = True
    for t in tensors:
        h = hashlib.sha256(f"{t.dtype}{tuple(t.shape)}".encode())
        h.update(t.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
        mine = torch.tensor(list(h.digest()), dtype=torch.uint8)
        low, high = mine.clone(), mine.clone()
        dist.all_reduce(low, op=dist.ReduceOp.MIN)
        dist.all_reduce(high, op=dist.ReduceOp.MAX)
        same = same and torch.equal(low, high)
    return same
