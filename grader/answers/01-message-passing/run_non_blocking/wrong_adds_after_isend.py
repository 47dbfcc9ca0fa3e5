# hint: sent before adding
def run_non_blocking(rank, size):
    tensor = torch.zeros(1)
    if rank == 0:
        request = dist.isend(tensor, dst=1)
        tensor += 1
    else:
        request = dist.irecv(tensor, src=0)
    request.wait()
    return tensor
