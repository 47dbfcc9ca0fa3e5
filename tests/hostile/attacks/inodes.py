# tries: a million empty files
# status: error
# says: Disk space and open files are limited

def relay(rank, size, tensor):
    if rank == 0:
        os.mkdir("many")
        for number in range(1_000_000):
            os.mknod(f"many/{number}")
    return right_relay(rank, size, tensor)
