# tries: an exit handler and a non-daemon thread that never ends
# status: passed

import atexit
import threading


def relay(rank, size, tensor):
    atexit.register(time.sleep, 600)
    threading.Thread(target=time.sleep, args=(600,)).start()
    return right_relay(rank, size, tensor)
