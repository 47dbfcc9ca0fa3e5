# says: the largest of 4
def ring_all_gather(rank, size, chunks):
    table = torch.stack(chunks)
    for step in range(size - 1):
        buffer = torch.empty_like(table)
        request = dist.isend(table, (rank + 1) % size)
        dist.recv(buffer, (rank - 1) % size)
        request.wait()
        for known in range(step + 1):
            table[(rank - known) % size] = buffer[(rank - known) % size]
    for chunk, row in zip(chunks, table):
        chunk.copy_(row)
