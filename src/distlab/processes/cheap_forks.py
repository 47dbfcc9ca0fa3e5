"""Make forks of a process cheaper, once it has imported everything.

A fork copies the page table, which has one entry for each 4 KiB that the process has ever written,
and with torch that is most of a fork's time. In huge pages one entry stands for 2 MiB. glibc asks
for them if told to (`environment`), Python's own allocator does not, and memory that grows during
an import is in small pages either way.
"""

from __future__ import annotations

import contextlib
import ctypes
import sys
from collections.abc import Iterator

HUGE = 2 << 20
_COLLAPSE = 25  # MADV_COLLAPSE: put this range into huge pages now (Linux 6.1; madvise(2))


def prepare() -> None:
    """Call it once, after the last import and before the first fork."""
    empty_caches()
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            collapse()


def empty_caches() -> None:
    """Empty what making a process group empties: in a fork that would first copy all its pages."""
    if dynamo := sys.modules.get("torch._dynamo"):
        with contextlib.suppress(AttributeError):
            dynamo.trace_rules.clear_lru_cache()


def collapse() -> int:
    """Move this process's own memory into huge pages; returns how many it then has.

    If the kernel cannot do that, memory stays as it is.
    """
    libc = ctypes.CDLL(None)
    libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return sum(libc.madvise(at, HUGE, _COLLAPSE) == 0 for at in _own_memory())


def _own_memory() -> Iterator[int]:
    """The addresses in this process's private writable memory at which a huge page can begin."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as file:
        ranges = [line.split(maxsplit=5) for line in file]
    for where, access, _, _, inode, *name in ranges:
        if access != "rw-p" or inode != "0" or name and "stack" in name[0]:
            continue
        begin, end = (int(part, 16) for part in where.split("-"))
        yield from range(-(-begin // HUGE) * HUGE, end // HUGE * HUGE, HUGE)
