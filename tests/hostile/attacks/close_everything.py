# tries: closing every descriptor that it has
# status: crashed

def relay(rank, size, tensor):
    os.closerange(3, 1024)
    return tensor
