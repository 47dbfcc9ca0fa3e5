# hint: read before wait
def ring_all_reduce(rank, size, tensor):
    chunks = list(torch.tensor_split(tensor.reshape(-1), size))
    requests = []
    for step in range(2 * (size - 1)):
        target = chunks[(rank - step - 1) % size]
        buffer = torch.empty_like(target)
        requests.append(dist.isend(chunks[(rank - step) % size].clone(), (rank + 1) % size))
        requests.append(dist.irecv(buffer, (rank - 1) % size))
        if step < size - 1:
            target += buffer
        else:
            target.copy_(buffer)
    for request in requests:
        request.wait()
    return tensor
