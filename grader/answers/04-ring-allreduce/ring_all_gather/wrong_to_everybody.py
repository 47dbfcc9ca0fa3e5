# hint: straight to the others
def ring_all_gather(rank, size, chunks):
    requests = []
    for other in range(size):
        if other != rank:
            requests.append(dist.isend(chunks[(rank + 1) % size], other))
            requests.append(dist.irecv(chunks[(other + 1) % size], other))
    for request in requests:
        request.wait()
