# says: rank 0 sent nothing to rank 1
def run_blocking(rank, size):
    tensor = torch.zeros(1)
    tensor += 1
    return tensor
