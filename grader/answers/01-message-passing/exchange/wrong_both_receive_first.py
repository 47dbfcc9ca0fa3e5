# status: deadlock
def exchange(rank, size, tensor):
    received = torch.empty_like(tensor)
    dist.recv(received, rank ^ 1)
    dist.send(tensor, rank ^ 1)
    return received
