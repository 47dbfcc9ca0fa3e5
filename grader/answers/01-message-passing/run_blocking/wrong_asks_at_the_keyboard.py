# status: error
# says: Ranks have no keyboard
def run_blocking(rank, size):
    tensor = torch.zeros(1)
    if rank == 0:
        tensor += float(input("add what? "))
        dist.send(tensor, dst=1)
    else:
        dist.recv(tensor, src=0)
    return tensor
