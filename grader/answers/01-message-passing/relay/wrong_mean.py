# status: wrong
def relay(rank, size, tensor):
    if rank > 0:
        received = torch.empty_like(tensor)
        dist.recv(received, rank - 1)
        tensor += received
    if rank < size - 1:
        dist.send(tensor, rank + 1)
    return tensor / (rank + 1)
