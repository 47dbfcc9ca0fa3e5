# tries: forged frames and noise on every inherited descriptor
# status: crashed

def relay(rank, size, tensor):
    for fd in range(3, 1024):
        try:
            os.write(fd, (40).to_bytes(8, "little") + b"forged" * 20)
        except OSError:
            pass
    time.sleep(10)
