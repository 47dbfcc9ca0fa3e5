# hint: input overwritten
def exchange(rank, size, tensor):
    received = tensor
    if rank % 2 == 0:
        dist.send(tensor, rank + 1)
        dist.recv(received, rank + 1)
    else:
        mine = tensor.clone()
        dist.recv(received, rank - 1)
        dist.send(mine, rank - 1)
    return received
