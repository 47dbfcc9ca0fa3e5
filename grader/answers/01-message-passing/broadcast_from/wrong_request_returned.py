# hint: request for tensor
def broadcast_from(rank, size, tensor, src):
    return dist.broadcast(tensor, src, async_op=True)
