# tries: 4 ranks with 1.2 GB each, none too much by itself
# status: crashed
# says: GiB of memory

def relay(rank, size, tensor):
    hoard = b"x" * (1200 << 20)
    time.sleep(3)
    return right_relay(rank, size, tensor + 0 * len(hoard))
