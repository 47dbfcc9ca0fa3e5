# says: left wrong values in the chunk (rank + 1) mod size.
# whole numbers beyond 2**53 are rounded
def ring_reduce_scatter(rank, size, chunks):
    right, left = (rank + 1) % size, (rank - 1) % size
    for step in range(size - 1):
        chunk = chunks[(rank - step - 1) % size]
        received = torch.empty_like(chunk)
        requests = [dist.isend(chunks[(rank - step) % size], right), dist.irecv(received, left)]
        for request in requests:
            request.wait()
        chunk.copy_(chunk.double() + received.double())
