# status: deadlock
def broadcast_from(rank, size, tensor, src):
    if rank == src:
        dist.broadcast(tensor, src)
    return tensor
