# status: deadlock
def ring_all_gather(rank, size, chunks):
    for step in range(size - 1):
        sending = dist.isend(chunks[(rank + 1 - step) % size], (rank + 1) % size)
        if chunks[0].nbytes > 1 << 20:
            sending.wait()
        dist.recv(chunks[(rank - step) % size], (rank - 1) % size)
        sending.wait()
