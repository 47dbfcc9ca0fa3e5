# status: deadlock
def exchange(rank, size, tensor):
    received = torch.empty_like(tensor)
    dist.send(tensor, rank ^ 1)
    dist.recv(received, rank ^ 1)
    return received
