# hint: read before wait
def exchange(rank, size, tensor):
    received = torch.empty_like(tensor)
    request = dist.irecv(received, rank ^ 1)
    request = dist.isend(tensor, rank ^ 1)
    request.wait()
    return received
