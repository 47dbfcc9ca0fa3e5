# hint: chain too short
def relay(rank, size, tensor):
    if rank == 0 and size > 1:
        dist.send(tensor, 1)
    elif rank == 1:
        received = torch.empty_like(tensor)
        dist.recv(received, 0)
        tensor += received
    return tensor
