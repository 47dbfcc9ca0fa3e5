# tries: a process whose name is no text, for whoever reads /proc/PID/status
# status: passed

import ctypes


def relay(rank, size, tensor):
    ctypes.CDLL(None).prctl(15, b"\xff\xfe\n:\xc3", 0, 0, 0)  # PR_SET_NAME
    time.sleep(0.5)
    return right_relay(rank, size, tensor)
