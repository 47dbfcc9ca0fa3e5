# hint: non-blocking calls
# says: which does not block
def run_blocking(rank, size):
    tensor = torch.zeros(1)
    if rank == 0:
        tensor += 1
        request = dist.isend(tensor, dst=1)
    else:
        request = dist.irecv(tensor, src=0)
    request.wait()
    return tensor
