# hint: read before wait
# says: Rank 1 never waited for the request of irecv(src=0) at run_non_blocking:9.
def run_non_blocking(rank, size):
    tensor = torch.zeros(1)
    if rank == 0:
        tensor += 1
        dist.isend(tensor, dst=1).wait()
    else:
        dist.irecv(tensor, src=0)
    return tensor
