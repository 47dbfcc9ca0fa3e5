# tries: 1 GB to descriptors 1 and 2, under Python's feet
# status: passed

def relay(rank, size, tensor):
    for _ in range(1000):
        os.write(1, bytes(1 << 20))
        os.write(2, b"CANARY_NOISE\n" * 10_000)
    return right_relay(rank, size, tensor)
