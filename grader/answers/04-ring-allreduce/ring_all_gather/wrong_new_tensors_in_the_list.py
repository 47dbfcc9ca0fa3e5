# hint: list changed
def ring_all_gather(rank, size, chunks):
    for step in range(size - 1):
        buffer = torch.empty_like(chunks[0])
        request = dist.isend(chunks[(rank + 1 - step) % size], (rank + 1) % size)
        dist.recv(buffer, (rank - 1) % size)
        request.wait()
        chunks[(rank - step) % size] = buffer
