# hint: NaN from before
def ring_all_gather(rank, size, chunks):
    have = (rank + 1) % size
    for number, chunk in enumerate(chunks):
        if number != have:
            chunk *= 0
    for step in range(size - 1):
        buffer = torch.empty_like(chunks[0])
        request = dist.isend(chunks[(have - step) % size], (rank + 1) % size)
        dist.recv(buffer, (rank - 1) % size)
        request.wait()
        chunks[(rank - step) % size] += buffer
