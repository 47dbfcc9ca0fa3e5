# hint: received over own
def relay(rank, size, tensor):
    if rank > 0:
        dist.recv(tensor, rank - 1)
        tensor += tensor
    if rank < size - 1:
        dist.send(tensor, rank + 1)
    return tensor
