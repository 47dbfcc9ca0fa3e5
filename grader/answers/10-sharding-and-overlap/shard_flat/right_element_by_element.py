def shard_flat(rank, size, tensors):
    n = sum(t.numel() for t in tensors)
    k = math.ceil(n / size)
    piece = torch.zeros(k, dtype=tensors[0].dtype)
    begin = 0
    for t in tensors:
        # the part of this tensor that falls into this rank's piece
        first, last = max(begin, rank * k), min(begin + t.numel(), (rank + 1) * k)
        if first < last:
            piece[first - rank * k : last - rank * k] = t.reshape(-1)[first - begin : last - begin]
        begin += t.numel()
    return piece
