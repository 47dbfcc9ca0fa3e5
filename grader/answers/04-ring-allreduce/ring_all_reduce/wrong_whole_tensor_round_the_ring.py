# hint: more than a chunk
# says: the largest 100% of it
def ring_all_reduce(rank, size, tensor):
    total, passing = tensor.clone(), tensor
    for _ in range(size - 1):
        buffer = torch.empty_like(passing)
        request = dist.isend(passing, (rank + 1) % size)
        dist.recv(buffer, (rank - 1) % size)
        request.wait()
        total += buffer
        passing = buffer
    return total
