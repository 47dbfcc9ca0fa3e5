# tries: every process forks for as long as it can
# status: timeout

def relay(rank, size, tensor):
    end = time.monotonic() + 40
    while time.monotonic() < end:
        try:
            os.fork()
        except OSError:
            time.sleep(0.001)
    os._exit(0)
