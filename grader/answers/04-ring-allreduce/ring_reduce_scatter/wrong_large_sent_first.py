# status: deadlock
def ring_reduce_scatter(rank, size, chunks):
    arriving = torch.empty_like(chunks[0])
    for step in range(size - 1):
        sending = dist.isend(chunks[(rank - step) % size], (rank + 1) % size)
        if arriving.nbytes > 1 << 20:
            sending.wait()
        dist.recv(arriving, (rank - 1) % size)
        sending.wait()
        chunks[(rank - step - 1) % size] += arriving
