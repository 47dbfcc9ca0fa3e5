# status: deadlock
def relay(rank, size, tensor):
    received = torch.empty_like(tensor)
    dist.recv(received, (rank - 1) % size)
    tensor += received
    dist.send(tensor, (rank + 1) % size)
    return tensor
