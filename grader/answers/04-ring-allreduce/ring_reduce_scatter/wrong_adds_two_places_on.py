# hint: sent as it was
def ring_reduce_scatter(rank, size, chunks):
    for step in range(size - 1):
        buffer = torch.empty_like(chunks[0])
        request = dist.isend(chunks[(rank - step) % size], (rank + 1) % size)
        dist.recv(buffer, (rank - 1) % size)
        request.wait()
        chunks[(rank - step - 2) % size] += buffer
