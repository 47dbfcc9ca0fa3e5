# hint: read before wait
def relay(rank, size, tensor):
    if rank > 0:
        received = torch.empty_like(tensor)
        request = dist.irecv(received, rank - 1)
        tensor = tensor + received
        request.wait()
    if rank < size - 1:
        dist.send(tensor, rank + 1)
    return tensor
