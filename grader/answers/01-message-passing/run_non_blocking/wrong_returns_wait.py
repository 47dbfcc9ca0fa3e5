# hint: request for tensor
def run_non_blocking(rank, size):
    tensor = torch.zeros(1)
    if rank == 0:
        tensor += 1
        return dist.isend(tensor, dst=1).wait()
    return dist.irecv(tensor, src=0).wait()
