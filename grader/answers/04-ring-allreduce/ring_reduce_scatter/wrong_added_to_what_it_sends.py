# hint: nothing added
def ring_reduce_scatter(rank, size, chunks):
    right, left = (rank + 1) % size, (rank - 1) % size
    for step in range(size - 1):
        chunk = chunks[(rank - step) % size]
        received = torch.empty_like(chunk)
        requests = [dist.isend(chunk, right), dist.irecv(received, left)]
        for request in requests:
            request.wait()
        chunk += received
