# hint: more than a chunk
def ring_all_reduce(rank, size, tensor):
    if size == 1:
        return tensor
    buffer = torch.empty_like(tensor)
    if rank > 0:
        dist.recv(buffer, rank - 1)
        tensor += buffer
    dist.send(tensor, (rank + 1) % size) if rank < size - 1 else None
    if rank == size - 1:
        dist.send(tensor, 0)
    else:
        dist.recv(tensor, (rank - 1) % size)
        if rank < size - 2:
            dist.send(tensor, rank + 1)
    return tensor
