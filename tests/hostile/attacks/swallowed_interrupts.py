# tries: an endless loop that swallows every exception and ignores every signal
# status: timeout

import signal


def relay(rank, size, tensor):
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
