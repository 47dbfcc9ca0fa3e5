# hint: other dtype
def broadcast_from(rank, size, tensor, src):
    tensor = tensor.float()
    dist.broadcast(tensor, src)
    return tensor
