# status: error
def relay(rank, size, tensor):
    if rank > 0:
        dist.recv(received, rank - 1)
        tensor += received
    if rank < size - 1:
        dist.send(tensor, rank + 1)
    return tensor
