# tries: kill -9 -1
# status: crashed

import signal


def relay(rank, size, tensor):
    os.kill(-1, signal.SIGKILL)
    time.sleep(10)
