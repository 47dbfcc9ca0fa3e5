# hint: same chunk in every step
def ring_all_gather(rank, size, chunks):
    own = (rank + 1) % size
    for step in range(size - 1):
        request = dist.isend(chunks[own], (rank + 1) % size)
        dist.recv(chunks[(rank - step) % size], (rank - 1) % size)
        request.wait()
