# hint: the other way round
def ring_all_reduce(rank, size, tensor):
    chunks = list(torch.tensor_split(tensor.reshape(-1), size))
    left, right = (rank - 1) % size, (rank + 1) % size
    for step in range(2 * (size - 1)):
        target = chunks[(rank + step + 1) % size]
        buffer = torch.empty_like(target)
        request = dist.isend(chunks[(rank + step) % size], left)
        dist.recv(buffer, right)
        request.wait()
        if step < size - 1:
            target += buffer
        else:
            target.copy_(buffer)
    return tensor
