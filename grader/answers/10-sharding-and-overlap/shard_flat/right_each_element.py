def shard_flat(rank, size, tensors):
    n = 0
    for t in tensors:
        n += t.numel()
    length = (n + size - 1) // size
    piece = torch.zeros(length, dtype=tensors[0].dtype)
    place = 0
    for t in tensors:
        line = t.reshape(-1)
        for i in range(len(line)):
            if rank * length <= place < (rank + 1) * length:
                piece[place - rank * length] = line[i]
            place += 1
    return piece
