# status: error
# hint: dist left out
def run_blocking(rank, size):
    tensor = torch.zeros(1)
    if rank == 0:
        tensor += 1
        send(tensor, dst=1)
    else:
        recv(tensor, src=0)
    return tensor
