# status: error
# says: NoneType
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
    chunks = list(tensor.flatten().tensor_split(size))
    length = max(len(chunk) for chunk in chunks)
    chunks = [nn.functional.pad(chunk, (0, length - len(chunk))) for chunk in chunks]
    chunks = ring_reduce_scatter(rank, size, chunks)
    chunks = ring_all_gather(rank, size, chunks)
    return torch.cat(chunks)[: tensor.numel()].view(tensor.shape)
