# says: never waited for
def relay(rank, size, tensor):
    if rank > 0:
        received = torch.empty_like(tensor)
        dist.recv(received, rank - 1)
        tensor += received
    if rank < size - 1:
        dist.isend(tensor, rank + 1)
    return tensor
