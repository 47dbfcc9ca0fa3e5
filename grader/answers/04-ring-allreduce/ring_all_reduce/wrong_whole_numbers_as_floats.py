# hint: messages of another dtype
def ring_all_reduce(rank, size, tensor):
    working = tensor if tensor.is_floating_point() else tensor.double()
    chunks = list(torch.tensor_split(working.reshape(-1), size))
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
    return working.to(tensor.dtype)
