# hint: not handed on
def ring_all_gather(rank, size, chunks):
    for step in range(size - 1):
        request = dist.isend(chunks[(rank + 1 - step) % size], (rank + 1) % size)
        dist.recv(chunks[(rank + step) % size], (rank - 1) % size)
        request.wait()
