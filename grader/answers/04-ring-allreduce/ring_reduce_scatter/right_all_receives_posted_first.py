def ring_reduce_scatter(rank, size, chunks):
    bufs = [torch.empty_like(chunks[0]) for _ in range(size - 1)]
    recvs = [dist.irecv(b, (rank - 1) % size, tag=i) for i, b in enumerate(bufs)]
    sends = []
    for step in range(size - 1):
        sends.append(dist.isend(chunks[(rank - step) % size], (rank + 1) % size, tag=step))
        recvs[step].wait()
        chunks[(rank - step - 1) % size] += bufs[step]
    for s in sends:
        s.wait()
