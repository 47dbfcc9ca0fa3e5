def ring_reduce_scatter(rank, size, chunks):
    for step in range(size - 1):
        mine = (rank - step) % size
        theirs = (mine - 1) % size
        buffer = torch.empty_like(chunks[theirs])
        request = dist.isend(chunks[mine], dst=(rank + 1) % size)
        dist.recv(buffer, src=(rank - 1) % size)
        request.wait()
        chunks[theirs].add_(buffer)
