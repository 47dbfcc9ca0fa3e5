# status: error
# says: A name that stands for a module
dist = 1  # how far it is to the other rank


def run_blocking(rank, size):
    tensor = torch.zeros(1)
    if rank == 0:
        tensor += 1
        dist.send(tensor, dst=1)
    else:
        dist.recv(tensor, src=0)
    return tensor
