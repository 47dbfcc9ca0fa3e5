# status: error
def ring_reduce_scatter(rank, size, chunks):
    for step in range(3):
        buffer = torch.empty_like(chunks[0])
        request = dist.isend(chunks[(rank - step) % 4], (rank + 1) % 4)
        dist.recv(buffer, (rank - 1) % 4)
        request.wait()
        chunks[(rank - step - 1) % 4] += buffer
