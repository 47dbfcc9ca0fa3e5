# status: deadlock
def exchange(rank, size, tensor):
    received = torch.empty_like(tensor)
    dist.isend(tensor, rank ^ 1).wait()
    dist.irecv(received, rank ^ 1).wait()
    return received
