"""Forbid system calls that student code has no use for, with a seccomp filter.

What is forbidden, and why:

- memory that belongs to no process (`memfd_create`, System V, shared mappings without a file): it
  escapes every limit that can be set without privileges;
- what the kernel keeps (semaphores, its log: a process that ends by a signal is entered there with
  an address of its own choice) or counts for the whole host (asynchronous input and output),
  which is shared with other submissions;
- what could slow process 1 down, which has the same user;
- sockets of unusual families, which reach other parts of the kernel, or the host (AF_VSOCK);
- kernel interfaces through which sandboxes have been broken out of before.

A forbidden call fails with EPERM. Numbers are from the kernel's tables `syscall_64.tbl` and
`unistd.h`.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
from collections.abc import Sequence

#: machine → (AUDIT_ARCH of linux/audit.h, {name: number})
_TABLES = {
    "x86_64": (0xC000003E, {
        "shmget": 29, "semget": 64, "msgget": 68, "ptrace": 101, "syslog": 103, "mount": 165,
        "io_setup": 206, "add_key": 248, "fanotify_init": 300,
        "request_key": 249, "keyctl": 250, "ioprio_set": 251, "unshare": 272,
        "perf_event_open": 298, "setns": 308,
        "process_vm_readv": 310, "process_vm_writev": 311, "memfd_create": 319, "bpf": 321,
        "userfaultfd": 323, "io_uring_setup": 425, "memfd_secret": 447,
    }),
    "aarch64": (0xC00000B7, {
        "shmget": 194, "semget": 190, "msgget": 186, "ptrace": 117, "syslog": 116, "mount": 40,
        "io_setup": 0, "add_key": 217, "fanotify_init": 262,
        "request_key": 218, "keyctl": 219, "ioprio_set": 30, "unshare": 97,
        "perf_event_open": 241, "setns": 268,
        "process_vm_readv": 270, "process_vm_writev": 271, "memfd_create": 279, "bpf": 280,
        "userfaultfd": 282, "io_uring_setup": 425, "memfd_secret": 447,
    }),
}  # fmt: skip
#: machine → {name: number} of calls that are forbidden with some arguments only
_SOME = {
    "x86_64": {
        "mmap": 9, "setpriority": 141, "sched_setparam": 142, "sched_setscheduler": 144,
        "sched_setaffinity": 203, "prlimit64": 302, "sched_setattr": 314,
        "socket": 41, "socketpair": 53,
    },
    "aarch64": {
        "mmap": 222, "setpriority": 140, "sched_setparam": 118, "sched_setscheduler": 119,
        "sched_setaffinity": 122, "prlimit64": 261, "sched_setattr": 274,
        "socket": 198, "socketpair": 199,
    },
}  # fmt: skip
_MAP_TYPE_OR_ANONYMOUS, _MAP_SHARED_ANONYMOUS = 0x2F, 0x21
_FIRST = (0, 0xFFFFFFFF, 1, True)  # the first argument is process 1
#: (argument, mask, value, is it forbidden when equal, or when not?)
_WHEN = {
    "mmap": [(3, _MAP_TYPE_OR_ANONYMOUS, _MAP_SHARED_ANONYMOUS, True)],
    "setpriority": [(0, 0xFFFFFFFF, 0, False), (1, 0xFFFFFFFF, 1, True)],  # 0: PRIO_PROCESS
    "sched_setparam": [_FIRST], "sched_setscheduler": [_FIRST], "sched_setattr": [_FIRST],
    "sched_setaffinity": [_FIRST], "prlimit64": [_FIRST],
}  # fmt: skip
_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK = 1, 2, 10, 16  # bits/socket.h; NETLINK: interfaces
#: the values that the first argument may have; all others are forbidden
_ONLY = {
    "socket": (_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK), "socketpair": (_AF_UNIX,),
}  # fmt: skip
_X32 = 0x40000000  # from this number on: x86-64's calls with 32-bit pointers, under other numbers
_LOAD, _EQUAL, _AT_LEAST, _AND, _RETURN = 0x20, 0x15, 0x35, 0x54, 0x06  # classic BPF
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_EPERM = 1
_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 22, 2
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data


def forbid() -> None:
    """Forbid these calls to this process and everything that it forks, for good.

    Needs `PR_SET_NO_NEW_PRIVS`. Does nothing on a machine whose numbers are not known here.
    """
    if platform.machine() not in _TABLES:
        return
    rules = _program(*_TABLES[platform.machine()], _SOME[platform.machine()])
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in rules))
    program = struct.pack("HxxxxxxP", len(rules), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, program, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"seccomp: {os.strerror(number)}")


Instruction = tuple[int, int, int, int]  # code, jump if true, jump if false, operand


def _program(architecture: int, calls: dict[str, int], some: dict[str, int]) -> list[Instruction]:
    numbers = sorted(calls.values())
    blocks = []
    for name, number in some.items():
        block = _only(_ONLY[name]) if name in _ONLY else _conditions(_WHEN[name])
        blocks += [(_EQUAL, 0, len(block), number), *block]
    checks = [
        # a jump counts the instructions it skips; EPERM is the last of all
        (_EQUAL, len(numbers) - i, 0, number)
        for i, number in enumerate(numbers)
    ]
    return [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        *blocks,
        (_AT_LEAST, len(numbers) + 1, 0, _X32),
        *checks,
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _ERRNO | _EPERM),
    ]


def _conditions(conditions: list[tuple[int, int, int, bool]]) -> list[Instruction]:
    """The rest of the program for one call: forbidden when a condition holds, else allowed."""
    block: list[Instruction] = []
    for argument, mask, value, when_equal in conditions:
        # the lower half of an argument on a little-endian machine: all that these calls look at
        block += [
            (_LOAD, 0, 0, _ARGUMENTS + 8 * argument),
            (_AND, 0, 0, mask),
            (_EQUAL, 0 if when_equal else 1, 1 if when_equal else 0, value),
            (_RETURN, 0, 0, _ERRNO | _EPERM),
        ]
    return [*block, (_RETURN, 0, 0, _ALLOW)]


def _only(values: Sequence[int]) -> list[Instruction]:
    """The rest of the program for one call: allowed with these first arguments alone."""
    checks = [
        (_EQUAL, len(values) - i, 0, value) for i, value in enumerate(values)
    ]  # the last instruction of the block allows
    return [
        (_LOAD, 0, 0, _ARGUMENTS),
        *checks,
        (_RETURN, 0, 0, _ERRNO | _EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]
