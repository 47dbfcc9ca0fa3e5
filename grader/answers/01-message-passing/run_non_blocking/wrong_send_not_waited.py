# hint: never waited
# says: rank 0 never waited for the request of isend(dst=1)
def run_non_blocking(rank, size):
    tensor = torch.zeros(1)
    if rank == 0:
        tensor += 1
        dist.isend(tensor, dst=1)
    else:
        dist.irecv(tensor, src=0).wait()
    return tensor
