# hint: nothing written
def ring_all_gather(rank, size, chunks):
    right, left = (rank + 1) % size, (rank - 1) % size
    for step in range(size - 1):
        received = torch.empty_like(chunks[0])
        requests = [dist.isend(chunks[(rank + 1 - step) % size], right), dist.irecv(received, left)]
        for request in requests:
            request.wait()
        chunk = chunks[(rank - step) % size]
        chunk = received
