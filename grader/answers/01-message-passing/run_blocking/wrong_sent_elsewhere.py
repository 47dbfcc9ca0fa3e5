# hint: sent elsewhere
def run_blocking(rank, size):
    tensor = torch.zeros(1)
    if rank == 0:
        dist.send(tensor + 1, 1)
    else:
        dist.recv(tensor, 0)
    return tensor
