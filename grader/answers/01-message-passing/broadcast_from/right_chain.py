def broadcast_from(rank, size, tensor, src):
    """Round the ring, from neighbour to neighbour."""
    place = (rank - src) % size
    if place > 0:
        dist.recv(tensor, (rank - 1) % size)
    if place < size - 1:
        dist.send(tensor, (rank + 1) % size)
    return tensor
