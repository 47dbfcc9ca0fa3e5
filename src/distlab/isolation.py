"""Walls around one submission, put up from inside by the process that will run it.

A sandbox such as bubblewrap is started once, with the zygote in it; this module keeps the
submissions in it apart. A process that calls `enter` continues as process 1 of namespaces of its
own: it sees no other process, no network but its own loopback, and writes to a folder in memory
that ends with it. What it forks can be ended in one stroke, however it hides, and has limits.

Linux alone. Nothing here needs a privilege: user namespaces are enough.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import resource
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from distlab import syscalls

HOME = "/sandbox"  # the private folder; a sandbox that wants walls inside has it
SHARED_MEMORY = "/dev/shm"

_CLONE_NEWNS, _CLONE_NEWUTS, _CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
_CLONE_NEWUSER, _CLONE_NEWPID, _CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
_MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_BIND, _MS_REC, _MS_PRIVATE = 2, 4, 8, 0x1000, 0x4000, 0x40000
_PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 4, 38
_SIOCSIFFLAGS, _IFF_UP, _IFF_RUNNING = 0x8914, 0x1, 0x40


class IsolationFailed(OSError):
    """The kernel or the sandbox around does not allow namespaces."""


@dataclass(frozen=True)
class Limits:
    """What one submission may use.

    Args:
        memory: bytes, of all its processes together and of each of them.
        processes: processes and threads at once.
        files: open files of a process.
        disk: bytes of its folder, and again of shared memory.
    """

    memory: int = 2 << 30
    processes: int = 64
    files: int = 1024
    disk: int = 256 << 20


def enter(limits: Limits) -> None:
    """Continue as process 1 of new namespaces; the calling process only waits for it.

    Raises:
        IsolationFailed: nothing was changed that matters.
    """
    _unshare()
    if pid := os.fork():
        _, status = os.waitpid(pid, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
    # a process that this one forks is visible to its own kind again
    os.register_at_fork(after_in_child=_ordinary)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one signal that Python lets process 1 feel
    _prctl(_PR_SET_DUMPABLE, 0)  # nobody here may trace process 1 or read its memory
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # orphans are its children: reap them unseen
    _mount_private(limits)
    _loopback_up()
    _give_up_privileges()
    limit(limits)


def _ordinary() -> None:
    """Of what process 1 has of its own, leave nothing to those that it forks."""
    _prctl(_PR_SET_DUMPABLE, 1)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def limit(limits: Limits) -> None:
    """Bind this process and all that it forks to `limits`, each for itself."""
    own = _data_size()
    for what, most in (
        (resource.RLIMIT_DATA, own + limits.memory),
        (resource.RLIMIT_NPROC, limits.processes),
        (resource.RLIMIT_NOFILE, limits.files),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
    ):
        resource.setrlimit(what, (most, most))


def sweep() -> None:
    """End every process of these namespaces but process 1, which must be the caller."""
    if os.getpid() != 1:
        raise RuntimeError("only process 1 of its own namespace may end all others")
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(-1, 0)  # SIGCHLD is ignored: this returns when the last one is gone


class Leftovers:
    """What lies in the private folders now, so that what comes later can be removed.

    Args:
        home: the folder below `HOME` that is the submission's home.
    """

    def __init__(self, home: Path) -> None:
        self._home = home
        self._tops = (HOME, SHARED_MEMORY, str(home))
        self._tidy()
        self._known = {path: self._state(path) for path in self._entries()}

    def remove(self) -> None:
        """Remove what is new or has changed since; a folder with all that is in it."""
        self._tidy()
        self._remove([p for p in self._entries() if self._known.get(p) != self._state(p)])
        self._tidy()

    def _tidy(self) -> None:
        """Have the folders themselves as they were, whatever was done to them."""
        for folder in self._tops:
            if folder == str(self._home) and (self._home.is_symlink() or not self._home.is_dir()):
                self._remove([folder])
                self._home.mkdir()
                os.chdir(folder)
            os.chmod(folder, 0o700)
            for name in os.listxattr(folder):
                os.removexattr(folder, name)
            os.utime(folder, (0, 0))

    @staticmethod
    def _remove(paths: list[str]) -> None:
        if paths:  # rm and chmod, because Python's own rmtree gives up on very deep folders
            for words in (["chmod", "-R", "u+rwx", "--"], ["rm", "-rf", "--"]):
                subprocess.run(
                    [*words, *paths], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                    check=False,
                )  # fmt: skip

    def _entries(self) -> Iterator[str]:
        for folder in self._tops:
            with os.scandir(folder) as entries:
                yield from (e.path for e in entries if e.path != str(self._home))

    @staticmethod
    def _state(path: str) -> object:
        """Which files there are from a path on, and when each was changed: a time that no call
        sets. Equal to nothing where that cannot be told.
        """
        found, left = [], [path]
        try:
            while left:
                path = left.pop()
                about = os.lstat(path)
                found.append((path, about.st_ino, about.st_ctime_ns))
                if stat.S_ISDIR(about.st_mode):
                    left += [entry.path for entry in os.scandir(path)]
        except OSError:
            return object()
        return sorted(found)


class Usage:
    """What the processes forked from this one use together, beyond what it had."""

    def __init__(self) -> None:
        self._own = _usage("self")[0]

    def measured(self) -> tuple[int, int]:
        """(bytes of memory, room for open files): sockets and pipes hold memory of the kernel's."""
        total = shared = files = 0
        for name in os.listdir("/proc"):
            if name.isdigit() and name != "1":
                anonymous, mapped, open_files = _usage(name)
                total += max(anonymous - self._own, 0)
                shared = max(shared, mapped)
                files += open_files
        return total + shared, files


def _usage(pid: str) -> tuple[int, int, int]:
    """Bytes of anonymous and of shared memory that a process has in RAM; its room for files."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0, 0, 0
    fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    anonymous, mapped, files = (
        int(fields.get(name, "0").split()[0]) for name in ("RssAnon", "RssShmem", "FDSize")
    )
    return anonymous << 10, mapped << 10, files


def _unshare() -> None:
    uid, gid = os.getuid(), os.getgid()
    everything = (
        _CLONE_NEWUSER | _CLONE_NEWPID | _CLONE_NEWNET
        | _CLONE_NEWIPC | _CLONE_NEWUTS | _CLONE_NEWNS
    )  # fmt: skip
    _checked(_libc.unshare(everything), "new namespaces")
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
    Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    from distlab.zygote import die_with_parent

    die_with_parent()  # the kernel forgets that with a change of credentials


def _mount_private(limits: Limits) -> None:
    _mount(None, "/", None, _MS_REC | _MS_PRIVATE)
    _mount("proc", "/proc", "proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
    size = f"size={limits.disk},nr_inodes=100k,mode=700"
    for folder in (HOME, SHARED_MEMORY):
        _mount("tmpfs", folder, "tmpfs", _MS_NOSUID | _MS_NODEV, size)
    # /dev/zero, mapped, is memory that no limit counts; /dev/full reads the same and cannot be
    _mount("/dev/full", "/dev/zero", None, _MS_BIND)
    os.chdir(HOME)


def _mount(source, target, kind, flags, data=None) -> None:
    words = [word and word.encode() for word in (source, target, kind)]
    _checked(_libc.mount(*words, flags, data and data.encode()), f"mounting {target}")


def _loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh", b"lo", _IFF_UP | _IFF_RUNNING)
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, request)


def _give_up_privileges() -> None:
    """No further user namespace, no capability, and none to be had by executing anything."""
    Path("/proc/sys/user/max_user_namespaces").write_text("0")
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    header = struct.pack("Ii", 0x20080522, 0)  # _LINUX_CAPABILITY_VERSION_3, this process
    _checked(_libc.capset(header, bytes(24)), "giving up capabilities")
    syscalls.forbid()


def _data_size() -> int:
    """Bytes of private writable memory that this process has mapped, used or not."""
    line = next(
        line for line in Path("/proc/self/status").read_text().splitlines() if "VmData" in line
    )
    return int(line.split()[1]) << 10


_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def _prctl(option: int, value: int) -> None:
    _checked(_libc.prctl(option, value, 0, 0, 0), f"prctl {option}")


def _checked(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise IsolationFailed(number, f"{what}: {os.strerror(number)}")


def main() -> None:
    """Say whether `enter` works here: what a grader asks before it lets strangers' code in."""
    try:
        enter(Limits())
    except OSError as error:
        print(error)
        raise SystemExit(1) from None
    assert os.getpid() == 1 and shutil.disk_usage(HOME).total <= Limits().disk
    print("isolated")


if __name__ == "__main__":
    main()
