def ring_reduce_scatter(rank, size, chunks):
    """All inboxes are open before anybody sends; the roll call has messages of its own meanwhile."""
    if size < 2:
        return
    left, right = (rank - 1) % size, (rank + 1) % size
    inboxes = [torch.empty_like(chunks[0]) for _ in range(size - 1)]
    receives = [dist.irecv(inboxes[step], left, tag=2 + step) for step in range(size - 1)]
    dist.monitored_barrier()
    for step in range(size - 1):
        sent = dist.isend(chunks[(rank - step) % size].clone(), right, tag=2 + step)
        receives[step].wait()
        chunks[(rank - step - 1) % size] += inboxes[step]
        sent.wait()
