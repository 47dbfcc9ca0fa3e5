# hint: own tensor
def broadcast_from(rank, size, tensor, src):
    result = tensor.clone()
    dist.broadcast(tensor, src)
    return result
