"""Walls around one exercise of one submission, put up from inside by the process that will run it.

A sandbox such as bubblewrap is started once, with the forkserver in it; this module separates the
processes that are forked there from each other. `start` forks a process that is process 1 of
namespaces of its own: it sees no other process, no network but its own loopback, no terminal and
few of the host's ever-growing counters, and it writes to a folder in memory that ends with it.
When it is killed, the kernel ends all that it has forked. Linux only. User namespaces are enough;
where the caller may change its user (`become`), each submission also runs as a different user of
the host's.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import platform
import resource
import shutil
import signal
import socket
import struct
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from distlab.processes import landlock, seccomp

HOME = "/sandbox"  # the private folder; the sandbox around has a folder of this name
SHARED_MEMORY = "/dev/shm"

_CLONE_NEWNS, _CLONE_NEWCGROUP, _CLONE_NEWUTS = 0x00020000, 0x02000000, 0x04000000
_CLONE_NEWIPC, _CLONE_NEWUSER, _CLONE_NEWPID = 0x08000000, 0x10000000, 0x20000000
_CLONE_NEWNET = 0x40000000
_EVERYTHING = (
    _CLONE_NEWNS | _CLONE_NEWCGROUP | _CLONE_NEWUTS | _CLONE_NEWIPC
    | _CLONE_NEWUSER | _CLONE_NEWPID | _CLONE_NEWNET
)  # fmt: skip
_CLONE = {"x86_64": 56, "aarch64": 220}  # the number of the system call clone
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 1, 2, 4, 8
_MS_BIND, _MS_REC, _MS_PRIVATE = 0x1000, 0x4000, 0x40000
_PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT = 4, 38, 47
_PR_CAP_AMBIENT_CLEAR_ALL = 4
_CAPABILITY_VERSION_3 = 0x20080522
_SIOCSIFFLAGS, _IFF_UP, _IFF_RUNNING = 0x8914, 0x1, 0x40
_STUDENT = 1000  # the user inside, whatever it is outside; see sandbox/etc/passwd

#: files in which the kernel counts for the whole host since its start, or tells of all processes
_COUNTERS = (
    "/proc/stat", "/proc/vmstat", "/proc/loadavg", "/proc/uptime", "/proc/diskstats",
    "/proc/interrupts", "/proc/softirqs", "/proc/schedstat", "/proc/zoneinfo", "/proc/buddyinfo",
    "/proc/pagetypeinfo", "/proc/timer_list", "/proc/locks", "/proc/key-users", "/proc/keys",
)  # fmt: skip
#: folders of such counters and of terminals, which all sandboxes of a host share
_HIDDEN = ("/proc/pressure", "/proc/sys/fs", "/proc/irq", "/proc/fs", "/dev/pts")
#: what a user namespace may use of the things in /proc/sys/user; 0 of all that are not here
_COUNTED = {
    "max_inotify_instances": 24, "max_inotify_watches": 1024,
    "max_net_namespaces": 64,  # for process 1 (`Wire`): without privileges nobody can make any
}  # fmt: skip
_PENDING_SIGNALS = 1024  # queued signals and timers
OOM_FIRST = 1000  # oom_score_adj of what the kernel is to end first when memory is short


class IsolationFailed(OSError):
    """The kernel or the sandbox around does not allow namespaces."""


@dataclass(frozen=True)
class Limits:
    """What one submission may use.

    Args:
        memory: bytes, of all its processes together and of each of them.
        processes: processes and threads at once. Each group of a rank has three threads, and those
            that torch keeps in its caches (`DTensor`, DDP) stay until the rank ends.
        files: open files of a process.
        disk: bytes of its folder, and again of shared memory.
        seconds: that judging it may take in all, without the time that it waits for its turn.
    """

    memory: int = 2 << 30
    processes: int = 256
    files: int = 1024
    disk: int = 256 << 20
    seconds: float = 900.0


def become(user: int) -> None:
    """Continue as another user, without any capability or supplementary group.

    Needs `CAP_SETUID` and `CAP_SETGID`.
    """
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    _checked(_libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0), "ambient set")
    _give_up_capabilities()
    _prctl(_PR_SET_DUMPABLE, 1)  # the kernel has cleared it, which makes this /proc/self root's


def start(limits: Limits, entry: Callable[[], object]) -> int:
    """Fork a process that puts up walls around itself and calls `entry` as process 1 of them.

    Returns its process id, as this process sees it. Killing it ends all that it has forked.

    Raises:
        IsolationFailed: the kernel does not allow new namespaces.
    """
    from distlab.processes.forkserver import die_with_parent

    sys.stdout.flush()
    sys.stderr.flush()
    user, group = os.getuid(), os.getgid()
    pid = _cloned()
    if pid:
        return pid
    status = 1
    try:
        signal.set_wakeup_fd(-1)
        _map_user(user, group)
        die_with_parent()  # after that: a change of credentials clears it
        _enter(limits)
        entry()
        status = 0
    except IsolationFailed as error:
        print(error)  # for `main`, whose output is read
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def _cloned() -> int:
    """Fork into new namespaces, in one step.

    `unshare` and `os.fork` would take two forks: only the children of the process that unshares are
    in the new PID namespace, and each fork copies the page tables of torch.
    """
    if platform.machine() not in _CLONE:
        raise IsolationFailed(38, f"no namespaces on {platform.machine()}")
    python = ctypes.pythonapi
    # PyDLL keeps the GIL during the call, as os.fork does
    call = ctypes.PyDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    words = [_CLONE[platform.machine()], _EVERYTHING | signal.SIGCHLD, 0, 0, 0, 0]
    python.PyOS_BeforeFork()
    pid: int = call(*map(ctypes.c_long, words))
    if pid == 0:
        python.PyOS_AfterFork_Child()
        return 0
    python.PyOS_AfterFork_Parent()
    if pid < 0:
        number = ctypes.get_errno()
        raise IsolationFailed(number, f"new namespaces: {os.strerror(number)}")
    return pid


def _map_user(user: int, group: int) -> None:
    """Map `student`, the only user inside, to this process's user outside."""
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{_STUDENT} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{_STUDENT} {group} 1")


def _enter(limits: Limits) -> None:
    os.setsid()  # a signal to a process group crosses namespaces
    Path("/proc/self/oom_score_adj").write_text(str(OOM_FIRST))
    # process 1 only gets signals that it handles, and of these Python handles SIGINT
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # orphans are its children: reap them unseen
    _mount_private(limits)
    _loopback_up()
    _limit_namespaces()
    _prctl(_PR_SET_DUMPABLE, 0)  # nobody here may trace process 1 or read its memory
    global _rules
    _rules = landlock.rules()
    limit(limits)
    # a process that this one forks keeps none of process 1's privileges
    os.register_at_fork(after_in_child=_ordinary)


_confined = False  # has this process, or one that it was forked from, called `_ordinary`?
entering: list[Callable[[], object]] = []  # what a child of process 1 calls before that
_rules: int | None = None  # of Landlock, for the children of process 1


def _ordinary() -> None:
    """In a child of process 1: give up the privileges that process 1 has."""
    global _confined
    if _confined:
        return
    _confined = True
    try:
        while entering:
            entering.pop(0)()
        _prctl(_PR_SET_NO_NEW_PRIVS, 1)
        _give_up_capabilities()
        if _rules is not None:
            landlock.forbid_writing(_rules)
        seccomp.forbid()
        _prctl(_PR_SET_DUMPABLE, 1)
        signal.signal(signal.SIGINT, signal.default_int_handler)
    except BaseException:  # Python ignores errors in fork hooks: the child would keep privileges
        os._exit(1)


def limit(limits: Limits) -> None:
    """Set the resource limits of this process, which each process that it forks inherits. Where
    this machine grants less than `limits`, that stays: nobody here may raise it.
    """
    own = _data_size()
    for what, most in (
        (resource.RLIMIT_DATA, own + limits.memory),
        (resource.RLIMIT_NPROC, limits.processes),
        (resource.RLIMIT_NOFILE, limits.files),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_SIGPENDING, _PENDING_SIGNALS),
    ):
        granted = resource.getrlimit(what)[1]
        if granted != resource.RLIM_INFINITY:
            most = min(most, granted)
        resource.setrlimit(what, (most, most))


def sweep() -> None:
    """End every process of these namespaces but process 1, which must be the caller."""
    if os.getpid() != 1:
        raise RuntimeError("only process 1 of its own namespace may end all others")
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(-1, 0)  # with SIGCHLD ignored this returns once the last one is gone


class Usage:
    """What the processes forked from this one use together, beyond what they share with it."""

    def __init__(self) -> None:
        self._own = _usage("self")[0]

    def measured(self) -> tuple[int, int]:
        """(bytes of memory, room for open files). Open sockets and pipes hold kernel memory."""
        total = shared = files = 0
        for name in os.listdir("/proc"):
            if name.isdigit() and name != "1":
                own, mapped, open_files = _usage(name)
                total += max(own - self._own, 0)
                shared = max(shared, mapped)
                files += open_files
        return total + shared, files


def _usage(pid: str) -> tuple[int, int, int]:
    """Bytes that a process has in RAM for itself, page tables included; bytes of shared memory; how
    many files its table has room for.
    """
    try:
        # as bytes: a process may give itself a name that is not valid text
        status = Path(f"/proc/{pid}/status").read_bytes()
    except OSError:
        return 0, 0, 0
    fields = dict(line.split(b":", 1) for line in status.splitlines() if b":" in line)
    anonymous, tables, mapped, files = (
        int(fields.get(name, b"0").split()[0])
        for name in (b"RssAnon", b"VmPTE", b"RssShmem", b"FDSize")
    )
    return (anonymous + tables) << 10, mapped << 10, files


def _mount_private(limits: Limits) -> None:
    _mount(None, "/", None, _MS_REC | _MS_PRIVATE)
    _mount("proc", "/proc", "proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
    size = f"size={limits.disk},nr_inodes=100k,mode=700"
    for folder in (HOME, SHARED_MEMORY):
        _mount("tmpfs", folder, "tmpfs", _MS_NOSUID | _MS_NODEV, size)
    # /dev/zero can be mapped as memory that no limit counts; /dev/full reads the same and cannot
    _mount("/dev/full", "/dev/zero", None, _MS_BIND)
    for path in _COUNTERS:
        if os.path.exists(path):
            _mount("/dev/null", path, None, _MS_BIND)
    for folder in _HIDDEN:
        if os.path.isdir(folder):
            _mount("tmpfs", folder, "tmpfs", _MS_RDONLY | _MS_NOSUID | _MS_NODEV, "size=4k")
    os.chdir(HOME)


def _mount(
    source: str | None, target: str, kind: str | None, flags: int, data: str | None = None
) -> None:
    words = [word and word.encode() for word in (source, target, kind)]
    _checked(_libc.mount(*words, flags, data and data.encode()), f"mounting {target}")


def _loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh", b"lo", _IFF_UP | _IFF_RUNNING)
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, request)


def _limit_namespaces() -> None:
    """Forbid further namespaces, and limit what the kernel counts for each user of the host."""
    for path in Path("/proc/sys/user").iterdir():
        path.write_text(str(_COUNTED.get(path.name, 0)))


def _give_up_capabilities() -> None:
    header = struct.pack("Ii", _CAPABILITY_VERSION_3, 0)  # 0: this process
    _checked(_libc.capset(header, bytes(24)), "giving up capabilities")


def _data_size() -> int:
    """Bytes of private writable memory that this process has mapped, used or not."""
    line = next(
        line for line in Path("/proc/self/status").read_text().splitlines() if "VmData" in line
    )
    return int(line.split()[1]) << 10


_libc = ctypes.CDLL(None, use_errno=True)


def _prctl(option: int, value: int) -> None:
    _checked(_libc.prctl(option, value, 0, 0, 0), f"prctl {option}")


def _checked(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise IsolationFailed(number, f"{what}: {os.strerror(number)}")


def main() -> None:
    """Print whether `start` works here, which a grader asks before it lets strangers' code in; and
    why messages between ranks cannot be measured, if they cannot.

    An argument, if there is one, is the user to become first.
    """
    try:
        if sys.argv[1:]:
            become(int(sys.argv[1]))
        _, status = os.waitpid(start(Limits(), _report), 0)
    except OSError as error:
        print(error)
        raise SystemExit(1) from None
    raise SystemExit(os.waitstatus_to_exitcode(status))


def _report() -> None:
    from distlab.network.measure import Wire

    assert os.getpid() == 1 and shutil.disk_usage(HOME).total <= Limits().disk
    try:
        Wire(2).close()
    except OSError as error:
        print(f"not measured: {error}")
    print("isolated")


if __name__ == "__main__":
    main()
