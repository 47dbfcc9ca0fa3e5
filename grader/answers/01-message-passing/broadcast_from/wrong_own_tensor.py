# hint: own tensor
def broadcast_from(rank, size, tensor, src):
    return tensor
