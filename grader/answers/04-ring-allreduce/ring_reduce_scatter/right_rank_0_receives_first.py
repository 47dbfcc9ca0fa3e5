def ring_reduce_scatter(rank, size, chunks):
    """Blocking calls alone: one rank breaks the circle."""
    right = (rank + 1) % size
    left = (rank - 1 + size) % size
    for step in range(size - 1):
        buffer = chunks[(left - step) % size].clone()
        if rank == 0:
            dist.recv(buffer, src=left)
            dist.send(chunks[(rank - step) % size], dst=right)
        else:
            dist.send(chunks[(rank - step) % size], dst=right)
            dist.recv(buffer, src=left)
        chunks[(left - step) % size][:] += buffer
    print("rank", rank, "is through")
