# hint: message not returned
def run_blocking(rank, size):
    tensor = torch.zeros(1)
    if rank == 0:
        tensor += 1
        dist.send(tensor, dst=1)
    else:
        dist.recv(torch.zeros(1), src=0)
        tensor += 1
    return tensor
