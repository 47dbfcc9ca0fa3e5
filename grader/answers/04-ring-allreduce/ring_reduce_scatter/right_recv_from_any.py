def ring_reduce_scatter(rank, size, chunks):
    if size < 2:
        return
    dist.barrier()
    inbox = torch.empty(chunks[0].shape, dtype=chunks[0].dtype)
    index = rank
    while index != (rank + 1) % size:
        handle = dist.isend(chunks[index].clone(), (rank + 1) % size)
        dist.recv(inbox)
        handle.wait()
        index = index - 1 if index > 0 else size - 1
        torch.add(chunks[index], inbox, out=chunks[index])
