# status: wrong
def broadcast_from(rank, size, tensor, src):
    dist.all_reduce(tensor)
    return tensor
