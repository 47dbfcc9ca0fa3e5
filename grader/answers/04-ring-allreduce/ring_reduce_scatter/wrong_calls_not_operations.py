# status: error
# says: P2POp
def ring_reduce_scatter(rank, size, chunks):
    right, left = (rank + 1) % size, (rank - 1) % size
    for step in range(size - 1):
        received = torch.empty_like(chunks[0])
        requests = dist.batch_isend_irecv(
            [dist.isend(chunks[(rank - step) % size], right), dist.irecv(received, left)]
        )
        for request in requests:
            request.wait()
        chunks[(rank - step - 1) % size] += received
