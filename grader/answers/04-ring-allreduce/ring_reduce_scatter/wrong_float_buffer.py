# hint: float32 in between
def ring_reduce_scatter(rank, size, chunks):
    for step in range(size - 1):
        buffer = torch.zeros(chunks[0].shape)
        request = dist.isend(chunks[(rank - step) % size].float(), (rank + 1) % size)
        dist.recv(buffer, (rank - 1) % size)
        request.wait()
        chunks[(rank - step - 1) % size] += buffer.to(chunks[0].dtype)
