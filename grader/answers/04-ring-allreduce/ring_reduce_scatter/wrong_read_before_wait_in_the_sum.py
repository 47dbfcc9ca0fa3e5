# hint: read before wait
# says: was under way when its buffer was read at ring_reduce_scatter:9
def ring_reduce_scatter(rank, size, chunks):
    right, left = (rank + 1) % size, (rank - 1) % size
    for step in range(size - 1):
        summed = chunks[(rank - step - 1) % size]
        received = torch.empty_like(summed)
        requests = [dist.isend(chunks[(rank - step) % size], right), dist.irecv(received, left)]
        summed += received
        for request in requests:
            request.wait()
