# tries: all inotify instances, queued signals, timers and pipe pages that the kernel allows a user
# status: passed

import ctypes
import fcntl
import signal


def many(make, most):
    made = []
    while len(made) < most and (one := make()) >= 0:
        made.append(one)
    return made


def pipe():
    try:
        reading, writing = os.pipe()
        fcntl.fcntl(writing, 1031, 1 << 20)  # F_SETPIPE_SZ
    except OSError:
        return -1
    return writing


def timer():
    number, libc = ctypes.c_int(), ctypes.CDLL(None)
    return 0 if libc.timer_create(1, None, ctypes.byref(number)) == 0 else -1


def queued():
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMAX])
    return 0 if ctypes.CDLL(None).sigqueue(os.getpid(), int(signal.SIGRTMAX), None) == 0 else -1


def relay(rank, size, tensor):
    taken = {
        "inotify instances": len(many(ctypes.CDLL(None).inotify_init, 200)),
        "timers": len(many(timer, 5000)),
        "signals": len(many(queued, 5000)),
    }
    many(pipe, 300)
    if any(number >= most for number, most in zip(taken.values(), (200, 5000, 5000), strict=True)):
        raise RuntimeError(f"no limit: {taken}")
    time.sleep(0.3)
    return right_relay(rank, size, tensor)
