# says: in the chunks
def ring_all_gather(rank, size, chunks):
    result = [chunk.clone() for chunk in chunks]
    for step in range(size - 1):
        request = dist.isend(result[(rank + 1 - step) % size], (rank + 1) % size)
        dist.recv(result[(rank - step) % size], (rank - 1) % size)
        request.wait()
    return result
