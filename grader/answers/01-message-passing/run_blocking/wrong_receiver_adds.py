# hint: sent before adding
def run_blocking(rank, size):
    tensor = torch.zeros(1)
    if rank == 0:
        dist.send(tensor, dst=1)
        tensor += 1
    else:
        dist.recv(tensor, src=0)
        tensor += 1
    return tensor
