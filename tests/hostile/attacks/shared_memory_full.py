# tries: 10 GB in /dev/shm
# status: error
# says: Disk space and open files are limited

def relay(rank, size, tensor):
    if rank == 0:
        with open("/dev/shm/full", "wb") as file:
            for _ in range(10_000):
                file.write(bytes(1 << 20))
    return right_relay(rank, size, tensor)
