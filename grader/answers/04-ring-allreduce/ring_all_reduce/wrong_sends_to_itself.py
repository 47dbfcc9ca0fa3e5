# status: error
def ring_all_reduce(rank, size, tensor):
    chunks = list(torch.tensor_split(tensor.reshape(-1), size))
    for step in range(2 * size):
        target = chunks[(rank - step - 1) % size]
        buffer = torch.empty_like(target)
        request = dist.isend(chunks[(rank - step) % size], rank)
        dist.recv(buffer, rank)
        request.wait()
        target += buffer
    return tensor
