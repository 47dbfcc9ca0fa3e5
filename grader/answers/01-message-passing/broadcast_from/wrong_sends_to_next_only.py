# status: deadlock
def broadcast_from(rank, size, tensor, src):
    if rank == src:
        dist.send(tensor, (src + 1) % size)
    else:
        dist.recv(tensor, src)
    return tensor
