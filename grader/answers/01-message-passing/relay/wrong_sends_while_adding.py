# status: wrong
def relay(rank, size, tensor):
    request = None
    if rank < size - 1:
        request = dist.isend(tensor, rank + 1)
    if rank > 0:
        received = torch.empty_like(tensor)
        dist.recv(received, rank - 1)
        tensor += received
    if request is not None:
        request.wait()
    return tensor
