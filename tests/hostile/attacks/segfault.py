# tries: a read from address 0
# status: crashed

import ctypes


def relay(rank, size, tensor):
    ctypes.string_at(0)
