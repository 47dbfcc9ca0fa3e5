# status: deadlock
# says: roots
def broadcast_from(rank, size, tensor, src):
    dist.broadcast(tensor, src=rank)
    return tensor
