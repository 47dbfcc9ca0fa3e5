# status: deadlock
def ring_all_reduce(rank, size, tensor):
    flat = tensor.clone().view(-1)
    length = -(-flat.numel() // size)
    chunks = [flat[i * length : (i + 1) * length] for i in range(size)]
    for step in range(2 * (size - 1)):
        adding = step < size - 1
        out = (rank - step + (not adding) * size) % size
        into = (out - 1) % size
        arriving = torch.empty_like(chunks[into])
        sending = dist.isend(chunks[out].clone(), (rank + 1) % size)
        if chunks[out].nbytes > 1 << 20:
            sending.wait()
        dist.recv(arriving, (rank - 1) % size)
        sending.wait()
        if adding:
            chunks[into] += arriving
        else:
            chunks[into].copy_(arriving)
    return flat.view(tensor.shape)
