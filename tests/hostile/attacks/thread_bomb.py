# tries: 2000 threads
# status: error
# says: Processes and threads are limited

import threading


def relay(rank, size, tensor):
    for _ in range(2000):
        threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
    return right_relay(rank, size, tensor)
