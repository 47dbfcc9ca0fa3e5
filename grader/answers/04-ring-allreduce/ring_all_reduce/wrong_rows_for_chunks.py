# says: shape
def ring_all_reduce(rank, size, tensor):
    chunks = list(tensor.tensor_split(size))
    for step in range(2 * (size - 1)):
        target = chunks[(rank - step - 1) % size]
        buffer = torch.empty(target.shape)
        request = dist.isend(chunks[(rank - step) % size].contiguous(), (rank + 1) % size)
        dist.recv(buffer, (rank - 1) % size)
        request.wait()
        if step < size - 1:
            target += buffer
        else:
            target.copy_(buffer)
    return tensor.view(size, tensor.shape[0] // size)
