def relay(rank, size, tensor):
    if rank != 0:
        left = torch.zeros_like(tensor)
        dist.recv(left, src=rank - 1)
        tensor = tensor + left
    if rank != size - 1:
        dist.send(tensor, dst=rank + 1)
    return tensor
