# says: was under way when its buffer was read at
def run_non_blocking(rank, size):
    tensor = torch.zeros(1)
    if rank == 0:
        tensor += 1
        req = dist.isend(tensor, 1)
    else:
        req = dist.irecv(tensor, 0)
        print("so far", tensor[0])
    req.wait()
    return tensor
