# tries: a tensor of 50 GB
# status: error
# says: Memory is limited

def relay(rank, size, tensor):
    return torch.ones(50 << 30, dtype=torch.uint8)
