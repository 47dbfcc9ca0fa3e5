# tries: 2 GB of text on stdout and stderr
# status: passed

def relay(rank, size, tensor):
    for _ in range(200):
        print("flood " * (1 << 20))
        print("flood " * (1 << 20), file=sys.stderr)
    return right_relay(rank, size, tensor)
