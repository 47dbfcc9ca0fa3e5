# status: error
# says: A function calls itself
def relay(rank, size, tensor):
    if rank > 0:
        tensor = tensor + relay(rank, size, tensor)
    return tensor
