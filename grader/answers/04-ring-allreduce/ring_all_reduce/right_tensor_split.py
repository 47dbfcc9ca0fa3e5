def ring_all_reduce(rank, size, tensor):
    chunks = list(torch.tensor_split(tensor.reshape(-1), size))
    left, right = (rank - 1) % size, (rank + 1) % size
    for step in range(size - 1):
        target = chunks[(rank - step - 1) % size]
        buffer = torch.empty_like(target)
        request = dist.isend(chunks[(rank - step) % size], right)
        dist.recv(buffer, left)
        request.wait()
        target += buffer
    for step in range(size - 1):
        request = dist.isend(chunks[(rank + 1 - step) % size], right)
        dist.recv(chunks[(rank - step) % size], left)
        request.wait()
    return tensor
