# hint: read before wait
def ring_reduce_scatter(rank, size, chunks):
    for step in range(size - 1):
        buffer = torch.empty_like(chunks[0])
        send = dist.isend(chunks[(rank - step) % size], (rank + 1) % size)
        receive = dist.irecv(buffer, (rank - 1) % size)
        chunks[(rank - step - 1) % size] += buffer
        send.wait()
        receive.wait()
