# hint: result of an in-place call
def broadcast_from(rank, size, tensor, src):
    return dist.broadcast(tensor, src)
