# hint: read before wait
# says: was under way when its buffer was read at ring_all_gather:7
# each step sends what the one before is still receiving
def ring_all_gather(rank, size, chunks):
    requests = []
    for step in range(size - 1):
        requests.append(dist.isend(chunks[(rank + 1 - step) % size], (rank + 1) % size))
        requests.append(dist.irecv(chunks[(rank - step) % size], (rank - 1) % size))
    for request in requests:
        request.wait()
