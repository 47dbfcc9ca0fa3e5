# hint: read before wait
def ring_all_gather(rank, size, chunks):
    requests = []
    for step in range(size - 1):
        requests.append(dist.isend(chunks[(rank + 1 - step) % size].clone(), (rank + 1) % size))
        requests.append(dist.irecv(chunks[(rank - step) % size], (rank - 1) % size))
    for request in requests:
        request.wait()
