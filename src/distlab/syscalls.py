"""Forbid system calls that student code has no use for, with a seccomp filter.

Memory that no process has mapped (`memfd_create`, System V) escapes every limit that needs no
privilege; the others open kernel interfaces that have been broken out of before. A forbidden call
fails with EPERM. Numbers are from the kernel's tables `syscall_64.tbl` and `unistd.h`.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct

#: machine → (AUDIT_ARCH of linux/audit.h, {name: number})
_TABLES = {
    "x86_64": (0xC000003E, {
        "shmget": 29, "msgget": 68, "ptrace": 101, "mount": 165, "add_key": 248,
        "request_key": 249, "keyctl": 250, "unshare": 272, "perf_event_open": 298, "setns": 308,
        "process_vm_readv": 310, "process_vm_writev": 311, "memfd_create": 319, "bpf": 321,
        "userfaultfd": 323, "io_uring_setup": 425, "memfd_secret": 447,
    }),
    "aarch64": (0xC00000B7, {
        "shmget": 194, "msgget": 186, "ptrace": 117, "mount": 40, "add_key": 217,
        "request_key": 218, "keyctl": 219, "unshare": 97, "perf_event_open": 241, "setns": 268,
        "process_vm_readv": 270, "process_vm_writev": 271, "memfd_create": 279, "bpf": 280,
        "userfaultfd": 282, "io_uring_setup": 425, "memfd_secret": 447,
    }),
}  # fmt: skip
_X32 = 0x40000000  # from this number on: x86-64's calls with 32-bit pointers, under other numbers
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06  # classic BPF
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_EPERM = 1
_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 22, 2
_NUMBER, _ARCHITECTURE = 0, 4  # offsets in struct seccomp_data


def forbid() -> None:
    """Forbid them to this process and all that it forks, for good.

    Needs `PR_SET_NO_NEW_PRIVS`. Does nothing on a machine whose numbers are not known here.
    """
    if platform.machine() not in _TABLES:
        return
    rules = _program(*_TABLES[platform.machine()])
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in rules))
    program = struct.pack("HxxxxxxP", len(rules), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, program, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"seccomp: {os.strerror(number)}")


def _program(architecture: int, calls: dict[str, int]) -> list[tuple[int, int, int, int]]:
    """Instructions (code, jump if true, jump if false, operand)."""
    numbers = sorted(calls.values())
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
        (_AT_LEAST, len(numbers) + 1, 0, _X32),
        *checks,
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _ERRNO | _EPERM),
    ]
