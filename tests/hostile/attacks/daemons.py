# tries: processes that leave their session and group, ignore signals and stay
# status: passed

import signal


def daemon():
    if os.fork() == 0:
        try:
            os.setsid()
        except OSError:
            pass
        if os.fork() == 0:
            for number in range(1, 65):
                try:
                    signal.signal(number, signal.SIG_IGN)
                except (OSError, ValueError):
                    pass
            end = time.monotonic() + 300
            while time.monotonic() < end:
                time.sleep(1)
        os._exit(0)


daemon()


def relay(rank, size, tensor):
    daemon()
    return right_relay(rank, size, tensor)
