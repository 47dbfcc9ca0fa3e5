# hint: copied, not added
def ring_reduce_scatter(rank, size, chunks):
    for step in range(size - 1):
        request = dist.isend(chunks[(rank - step) % size], (rank + 1) % size)
        dist.recv(chunks[(rank - step - 1) % size], (rank - 1) % size)
        request.wait()
