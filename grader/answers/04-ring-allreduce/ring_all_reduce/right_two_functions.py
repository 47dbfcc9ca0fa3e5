import warnings


def ring_reduce_scatter(rank, size, chunks):
    for step in range(size - 1):
        buffer = torch.empty_like(chunks[(rank - step - 1) % size])
        request = dist.isend(chunks[(rank - step) % size], (rank + 1) % size)
        dist.recv(buffer, (rank - 1) % size)
        request.wait()
        chunks[(rank - step - 1) % size] += buffer


def ring_all_gather(rank, size, chunks):
    for step in range(size - 1):
        request = dist.isend(chunks[(rank + 1 - step) % size], (rank + 1) % size)
        dist.recv(chunks[(rank - step) % size], (rank - 1) % size)
        request.wait()


def ring_all_reduce(rank, size, tensor):
    warnings.warn(f"{tensor.numel()} elements")
    out = tensor.detach().clone()
    chunks = list(out.flatten().tensor_split(size))
    if size > 1:
        ring_reduce_scatter(rank, size, chunks)
        ring_all_gather(rank, size, chunks)
    return torch.cat(chunks).reshape(out.shape)
