# status: deadlock
def relay(rank, size, tensor):
    if rank > 0:
        received = torch.empty_like(tensor)
        dist.recv(received, rank - 1)
        tensor += received
    if rank < 3 and size != 2 and size != 1 or (size == 2 and rank == 0):
        if rank + 1 < size:
            dist.send(tensor, rank + 1)
    return tensor
