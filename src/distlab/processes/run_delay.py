"""How long processes have waited for a processor, which is not their fault.

Linux counts it for each thread (`schedstat` in proc(5), its second number). A deadline that leaves
it out means the same on a busy machine as on an idle one.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence

MOST_STARTED = 32  # processes of a process's own that are looked at


class RunDelay:
    """How long processes, and those that they have started, have waited for a processor."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}  # of each thread, also of those that have ended

    def seconds(self, pids: Sequence[int]) -> float:
        for pid in pids:
            self._look(f"/proc/{pid}/task/{pid}")
            for other in started(pid):
                with contextlib.suppress(OSError):
                    for thread in os.listdir(f"/proc/{other}/task"):
                        self._look(f"/proc/{other}/task/{thread}")
        return sum(self._seconds.values())

    def _look(self, thread: str) -> None:
        with contextlib.suppress(OSError, ValueError, IndexError):  # not every kernel tells
            self._seconds[thread] = int(_read(f"{thread}/schedstat").split()[1]) / 1e9


def started(pid: int) -> list[str]:
    """The processes that a process has started, those that these have started, and so on."""
    found: list[str] = []
    look = [str(pid)]
    while look and len(found) < MOST_STARTED:
        parent = look.pop()
        with contextlib.suppress(OSError):
            children = _read(f"/proc/{parent}/task/{parent}/children").decode().split()
            found += children
            look += children
    return found[:MOST_STARTED]


def _read(path: str) -> bytes:
    """What a file of /proc says, without the time that Python's files take."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(file, 1 << 16)
    finally:
        os.close(file)
