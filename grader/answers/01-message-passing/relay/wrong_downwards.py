# hint: from the other end
def relay(rank, size, tensor):
    if rank < size - 1:
        received = torch.empty_like(tensor)
        dist.recv(received, rank + 1)
        tensor += received
    if rank > 0:
        dist.send(tensor, rank - 1)
    return tensor
