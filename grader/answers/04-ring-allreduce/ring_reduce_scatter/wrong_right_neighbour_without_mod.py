# status: error
# says: Invalid destination rank 4
def ring_reduce_scatter(rank, size, chunks):
    for step in range(size - 1):
        received = torch.empty_like(chunks[0])
        send = dist.isend(chunks[(rank - step) % size], dst=rank + 1)
        receive = dist.irecv(received, src=(rank - 1) % size)
        send.wait()
        receive.wait()
        chunks[(rank - step - 1) % size] += received
