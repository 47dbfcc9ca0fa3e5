# hint: half a swap
def exchange(rank, size, tensor):
    if rank % 2 == 0:
        dist.send(tensor, rank + 1)
        return tensor
    received = torch.empty_like(tensor)
    dist.recv(received, rank - 1)
    return received
