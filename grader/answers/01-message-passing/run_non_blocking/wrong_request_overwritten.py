# says: rank 0 sent 2 messages to rank 1
def run_non_blocking(rank, size):
    tensor, other = torch.zeros(1), torch.zeros(1)
    if rank == 0:
        tensor += 1
        request = dist.isend(other, dst=1)
        request = dist.isend(tensor, dst=1)
    else:
        request = dist.irecv(other, src=0)
        request = dist.irecv(tensor, src=0)
    request.wait()
    return tensor
