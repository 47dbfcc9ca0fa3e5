# hint: own not added
def relay(rank, size, tensor):
    received = torch.zeros_like(tensor)
    if rank > 0:
        dist.recv(received, rank - 1)
    if rank < size - 1:
        dist.send(received + tensor, rank + 1)
    return received if rank > 0 else tensor
