def same_everywhere(rank, size, tensors):
    h = hashlib.sha256()
    for t in tensors:
        h.update(str(t.dtype).encode() + str(tuple(t.shape)).encode())
        h.update(t.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    mine = torch.frombuffer(bytearray(h.digest()), dtype=torch.uint8)
    same = torch.ones(1, dtype=torch.int64)
    if size > 1:
        left = torch.empty_like(mine)
        sent = dist.isend(mine, (rank + 1) % size)
        dist.recv(left, (rank - 1) % size)
        sent.wait()
        same[0] = torch.equal(left, mine)
    dist.all_reduce(same, op=dist.ReduceOp.PRODUCT)
    return bool(same.item())
