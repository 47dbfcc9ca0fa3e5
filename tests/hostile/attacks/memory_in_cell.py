# tries: processes started by a cell, with 600 MB each
# status: crashed
# says: GiB of memory

if not [number for number in range(5) if os.fork() == 0]:
    time.sleep(8)
hoard = b"x" * (600 << 20)
time.sleep(8)
os._exit(0)


def relay(rank, size, tensor):
    return right_relay(rank, size, tensor)
