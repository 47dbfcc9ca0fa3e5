# status: deadlock
def broadcast_from(rank, size, tensor, src):
    if rank == src:
        dist.broadcast(tensor, src)
    else:
        dist.recv(tensor, src)
    return tensor
