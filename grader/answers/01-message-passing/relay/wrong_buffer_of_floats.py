# status: deadlock
# says: Make buffers with the dtype of what will arrive in them
def relay(rank, size, tensor):
    if rank > 0:
        received = torch.zeros(tensor.shape)
        dist.recv(received, src=rank - 1)
        tensor = tensor + received.to(tensor.dtype)
    if rank < size - 1:
        dist.send(tensor, dst=rank + 1)
    return tensor
