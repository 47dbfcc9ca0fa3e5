# status: timeout
def exchange(rank, size, tensor):
    received = torch.empty_like(tensor)
    request = dist.isend(tensor, rank ^ 1)
    dist.irecv(received, rank ^ 1).wait()
    request.wait()
    while not torch.isnan(received).any():
        pass
    return received
