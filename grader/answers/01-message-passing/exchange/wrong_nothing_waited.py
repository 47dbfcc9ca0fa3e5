# hint: read before wait
def exchange(rank, size, tensor):
    received = torch.empty_like(tensor)
    dist.isend(tensor, rank ^ 1)
    dist.irecv(received, rank ^ 1)
    return received
