# status: deadlock
def ring_all_gather(rank, size, chunks):
    for step in range(size - 1):
        dist.recv(chunks[(rank - step) % size], (rank - 1) % size)
        dist.send(chunks[(rank + 1 - step) % size], (rank + 1) % size)
