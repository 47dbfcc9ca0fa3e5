# hint: chain closed
# says: which nobody asked for
def relay(rank, size, tensor):
    if rank > 0:
        received = torch.empty_like(tensor)
        dist.recv(received, rank - 1)
        tensor += received
    if size > 1:
        dist.send(tensor, (rank + 1) % size)
        if rank == 0:
            dist.recv(torch.empty_like(tensor), size - 1)
    return tensor
