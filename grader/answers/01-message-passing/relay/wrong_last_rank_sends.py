# status: error
# says: Invalid destination rank 4
def relay(rank, size, tensor):
    if rank > 0:
        received = torch.empty_like(tensor)
        dist.recv(received, rank - 1)
        tensor += received
    dist.send(tensor, rank + 1)
    return tensor
