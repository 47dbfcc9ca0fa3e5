"""Hides from every Python that starts with this folder on its path what Linux alone has.

`sys.platform` says "darwin" to distlab and to whoever runs it, and the truth to the libraries that
it uses, whose builds for Linux they are. Calls that macOS does not have, or that are not safe
there, are gone or refused: a fork, `prctl` and its like, and files below /proc, /sys and /dev/shm,
which `elsewhere.py` covers for C as well. `multiprocessing` spawns, as it does on macOS.
"""

import multiprocessing.context
import os
import select
import signal
import socket
import sys
import time
import types

#: what Python has on Linux and not on macOS, by module
_GONE = {
    os: "O_PATH O_TMPFILE copy_file_range eventfd fdatasync getrandom memfd_create pidfd_open "
        "pipe2 posix_fadvise posix_fallocate sched_getaffinity sched_setaffinity setns setresgid "
        "setresuid setxattr splice unshare",
    select: "epoll",
    signal: "SIGRTMAX SIGRTMIN pidfd_send_signal sigtimedwait sigwaitinfo",
    socket: "AF_NETLINK SO_PASSCRED SO_PEERCRED",
    time: "CLOCK_BOOTTIME pthread_getcpuclockid",
}  # fmt: skip
_CALLS = {"prctl", "unshare", "setns", "inotify_init", "inotify_init1", "inotify_add_watch",
          "signalfd", "memfd_create", "syscall", "clone", "capset"}  # fmt: skip
_FILES = ("/proc", "/sys", "/dev/shm")


class _Sys(types.ModuleType):
    """`sys` as its callers see it, by whose code they are."""

    @property
    def platform(self):
        name = str(sys._getframe(1).f_globals.get("__name__"))
        return "darwin" if name.startswith(("distlab", "__main__")) else "linux"


def _refuse(event, arguments):
    if event in ("os.fork", "os.forkpty"):
        raise RuntimeError("a fork, which is not safe on macOS")
    if event == "ctypes.dlsym" and arguments[1] in _CALLS:
        raise AttributeError(f"{arguments[1]}, which macOS does not have")
    if event in ("open", "os.listdir", "os.scandir") and arguments:
        path = arguments[0]
        path = os.fsdecode(path) if isinstance(path, (str, bytes, os.PathLike)) else ""
        if path.startswith(_FILES):
            raise FileNotFoundError(2, "macOS does not have this", path)


for _module, _names in _GONE.items():
    for _name in _names.split():
        if hasattr(_module, _name):
            delattr(_module, _name)
_contexts = multiprocessing.context
_contexts._default_context._default_context = _contexts._concrete_contexts["spawn"]
sys.__class__ = _Sys
sys.addaudithook(_refuse)
