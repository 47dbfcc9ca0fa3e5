# status: error
# hint: fewer chunks
# says: IndexError
def ring_all_reduce(rank, size, tensor):
    flat = tensor.flatten()
    chunks = list(flat.chunk(size))
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
    return flat.view(tensor.shape)
