# hint: padded with anything
_work = {}

def shard_flat(rank, size, tensors):
    n = sum(t.numel() for t in tensors)
    per = -(-n // size)
    key = (per * size, tensors[0].dtype)
    if key not in _work:
        _work[key] = torch.zeros(per * size, dtype=tensors[0].dtype)
    buf = _work[key]
    o = 0
    for t in tensors:
        buf[o : o + t.numel()] = t.reshape(-1)
        o += t.numel()
    return buf[rank * per : (rank + 1) * per].clone()
