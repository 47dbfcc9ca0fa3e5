# says: changed by a later call
KEPT = {}


def ring_all_reduce(rank, size, tensor):
    result = KEPT.setdefault((tensor.shape, tensor.dtype), torch.empty_like(tensor))
    result.copy_(tensor)
    chunks = list(torch.tensor_split(result.reshape(-1), size))
    for step in range(2 * (size - 1)):
        target = chunks[(rank - step - 1) % size]
        buffer = torch.empty_like(target)
        request = dist.isend(chunks[(rank - step) % size], (rank + 1) % size)
        dist.recv(buffer, (rank - 1) % size)
        request.wait()
        if step < size - 1:
            target += buffer
        else:
            target.copy_(buffer)
    return result
