# says: rank 0 sent nothing to rank 1
# hint: both ranks do the same
def run_blocking(rank, size):
    tensor = torch.zeros(1)
    if rank == 1:
        tensor += 1
        dist.send(tensor, dst=0)
    else:
        dist.recv(tensor, src=1)
    return tensor
