# hint: all through one rank
# says: 2(size − 1)/size = 1.5 times its bytes
def ring_all_reduce(rank, size, tensor):
    if rank:
        dist.send(tensor, 0)
        dist.recv(tensor, 0)
        return tensor
    for other in range(1, size):
        buffer = torch.empty_like(tensor)
        dist.recv(buffer, other)
        tensor += buffer
    for other in range(1, size):
        dist.send(tensor, other)
    return tensor
