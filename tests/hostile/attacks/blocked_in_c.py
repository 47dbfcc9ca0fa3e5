# tries: waiting in C for what never comes
# status: timeout

import ctypes


def relay(rank, size, tensor):
    ctypes.CDLL(None).pause()
