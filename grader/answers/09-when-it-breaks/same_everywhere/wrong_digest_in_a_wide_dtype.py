# hint: too many bytes
# says: more bytes on its way
def same_everywhere(rank, size, tensors):
    group = dist.new_group(list(range(size)))
    h = hashlib.sha512()
    for t in tensors:
        h.update(repr((t.dtype, t.shape)).encode())
        h.update(t.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    mine = torch.tensor(list(h.digest()), dtype=torch.uint8)
    tops = mine.to(torch.int32)
    lows = tops.clone()
    works = [dist.all_reduce(tops, dist.ReduceOp.MAX, group=group, async_op=True)]
    works.append(dist.all_reduce(lows, dist.ReduceOp.MIN, group=group, async_op=True))
    [w.wait() for w in works]
    return torch.equal(tops, lows)
