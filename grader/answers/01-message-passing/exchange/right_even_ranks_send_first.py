def exchange(rank, size, tensor):
    partner, received = rank ^ 1, torch.empty_like(tensor)
    if rank % 2 == 0:
        dist.send(tensor, partner)
        dist.recv(received, partner)
    else:
        dist.recv(received, partner)
        dist.send(tensor, partner)
    return received
