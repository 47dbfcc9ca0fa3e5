# hint: first tensor handed on
def relay(rank, size, tensor):
    if rank > 0:
        dist.recv(tensor, rank - 1)
    if rank < size - 1:
        dist.send(tensor, rank + 1)
    return tensor
