# tries: a terminal, through which submissions can talk
# status: passed


def relay(rank, size, tensor):
    found = []
    for path in ("/dev/ptmx", "/dev/pts/ptmx", "/dev/pts/0", "/dev/tty", "/dev/console"):
        try:
            os.close(os.open(path, os.O_RDWR))
            found.append(path)
        except OSError:
            pass
    if found:
        raise RuntimeError(f"there is {found}")
    return right_relay(rank, size, tensor)
