# hint: nothing returned
def broadcast_from(rank, size, tensor, src):
    return dist.broadcast(tensor, src)
