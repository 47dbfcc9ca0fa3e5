# hint: arguments changed
def shard_flat(rank, size, tensors):
    n = sum(t.numel() for t in tensors)
    k = -(-n // size)
    tensors.append(torch.zeros(k * size - n, dtype=tensors[0].dtype))
    return torch.cat([t.reshape(-1) for t in tensors])[rank * k : rank * k + k].clone()
