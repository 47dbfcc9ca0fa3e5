def broadcast_from(rank, size, tensor, src):
    dist.broadcast(tensor, src=src)
    print(rank, tensor)
    return tensor
