# hint: messages of another dtype
def ring_all_gather(rank, size, chunks):
    for step in range(size - 1):
        buffer = torch.empty(chunks[0].shape, dtype=torch.float64)
        if chunks[0].dtype == torch.int64:
            request = dist.isend(chunks[(rank + 1 - step) % size].double(), (rank + 1) % size)
        else:
            buffer = buffer.to(chunks[0].dtype)
            request = dist.isend(chunks[(rank + 1 - step) % size], (rank + 1) % size)
        dist.recv(buffer, (rank - 1) % size)
        request.wait()
        chunks[(rank - step) % size].copy_(buffer)
