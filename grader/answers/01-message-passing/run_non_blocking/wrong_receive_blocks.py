# hint: blocking calls
# says: rank 1 called recv
def run_non_blocking(rank, size):
    tensor = torch.zeros(1)
    if rank == 0:
        tensor += 1
        dist.isend(tensor, dst=1).wait()
    else:
        dist.recv(tensor, src=0)
    return tensor
