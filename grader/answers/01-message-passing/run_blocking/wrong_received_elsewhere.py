# hint: received elsewhere
def run_blocking(rank, size):
    tensor = torch.zeros(1)
    if rank == 0:
        tensor += 1
        dist.send(tensor, dst=1)
    else:
        received = torch.zeros(1)
        dist.recv(received, src=0)
    return tensor
