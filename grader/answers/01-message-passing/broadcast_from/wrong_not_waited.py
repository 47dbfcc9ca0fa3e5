# status: wrong
def broadcast_from(rank, size, tensor, src):
    result = tensor.clone()
    dist.broadcast(result, src, async_op=True)
    return result
