# tries: SIGINT at everybody, from a cell
# status: passed

import signal

signal.signal(signal.SIGINT, signal.SIG_IGN)
for _ in range(20):
    try:
        os.kill(1, signal.SIGINT)
        os.kill(-1, signal.SIGINT)
    except OSError:
        pass
    time.sleep(0.01)


def relay(rank, size, tensor):
    return right_relay(rank, size, tensor)
