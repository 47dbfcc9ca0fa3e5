# tries: a user namespace by clone and clone3
# status: passed

import ctypes


def relay(rank, size, tensor):
    libc = ctypes.CDLL(None)
    pid = libc.syscall(56, 0x10000000 | 17, 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    block = (ctypes.c_uint64 * 11)(0x10000000, 0, 0, 0, 17)
    other = libc.syscall(435, ctypes.byref(block), ctypes.sizeof(block))
    if other == 0:
        os._exit(0)
    if pid > 0 or other > 0:
        raise RuntimeError("a user namespace was made")
    return right_relay(rank, size, tensor)
