# tries: 1 GB to stdout while the cell runs
# status: passed

for _ in range(500):
    os.write(1, bytes(1 << 20))
    print("flood " * (1 << 18))


def relay(rank, size, tensor):
    return right_relay(rank, size, tensor)
