# hint: own tensor
def ring_all_reduce(rank, size, tensor):
    chunks = [chunk.clone() for chunk in torch.tensor_split(tensor.reshape(-1), size)]
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
    return tensor
