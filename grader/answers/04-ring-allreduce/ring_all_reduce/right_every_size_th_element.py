def ring_all_reduce(rank, size, tensor):
    # strided chunks: element i belongs to chunk i % size
    flat = tensor.reshape(-1)
    parts = [flat[i::size].contiguous() for i in range(size)]
    own = rank
    acc = parts[own]
    for k in range(size - 1):
        nxt = (own - 1) % size
        buf = torch.empty_like(parts[nxt])
        r = [dist.isend(acc, (rank + 1) % size), dist.irecv(buf, (rank - 1) % size)]
        [x.wait() for x in r]
        acc, own = buf + parts[nxt], nxt
    parts[own] = acc
    for k in range(size - 1):
        nxt = (own - 1) % size
        buf = torch.empty_like(parts[nxt])
        r = [dist.isend(parts[own], (rank + 1) % size), dist.irecv(buf, (rank - 1) % size)]
        [x.wait() for x in r]
        parts[nxt], own = buf, nxt
    out = torch.empty_like(flat)
    for i in range(size):
        out[i::size] = parts[i]
    return out.view(tensor.shape)
