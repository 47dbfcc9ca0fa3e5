# hint: other dtype
def relay(rank, size, tensor):
    if rank > 0:
        received = torch.zeros(tensor.shape, dtype=torch.float64)
        dist.recv(received, rank - 1)
        tensor = tensor + received
    if rank < size - 1:
        dist.send(tensor, rank + 1)
    return tensor
