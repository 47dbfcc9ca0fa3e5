def run_blocking(rank, size):
    tensor = torch.zeros(1)
    if rank == 0:
        tensor = tensor + 1
        dist.send(tensor, 1, tag=7)
    if rank == 1:
        source = dist.recv(tensor, tag=7)
        print("from", source)
    return tensor
