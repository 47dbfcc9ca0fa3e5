"""How long processes have waited for a processor, which is not their fault.

Linux counts this for each thread (the second number of `schedstat`, proc(5)). A deadline that
leaves it out means the same on a busy machine as on an idle one. Where there is no /proc, as on
macOS, it is estimated from the load of the machine; where that is unknown too, all time counts as
waiting, so that no right answer is called late.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Sequence

from distlab.processes import machine

MOST_STARTED = 32  # child processes, direct or not, that are looked at for each process
MOST_THREADS = 128  # of each of these


class RunDelay:
    """How long processes, and those that they have started, have waited for a processor."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}  # by thread, including those that have ended
        self._told = os.path.exists("/proc/self")
        self._looked, self._estimated = time.monotonic(), 0.0

    def seconds(self, pids: Sequence[int]) -> float:
        if not self._told:
            return self._estimate(len(pids))
        for pid in pids:  # all threads of each: its first one may wait for what others compute
            for one in (str(pid), *started(pid)):
                for thread in _threads(one)[:MOST_THREADS]:
                    self._look(f"/proc/{one}/task/{thread}")
        return sum(self._seconds.values())

    def _estimate(self, processes: int) -> float:
        """An estimate: each process had an equal share of a machine as busy as it was of late."""
        now = time.monotonic()
        self._estimated += (now - self._looked) * processes * (1 - share())
        self._looked = now
        return self._estimated

    def _look(self, thread: str) -> None:
        with contextlib.suppress(OSError, ValueError, IndexError):  # not every kernel tells
            self._seconds[thread] = int(_read(f"{thread}/schedstat").split()[1]) / 1e9


def share() -> float:
    """The share of a processor that each process that wants one gets; 0 where nothing tells."""
    try:
        wanted = os.getloadavg()[0]
    except OSError:
        return 0.0
    return min(1.0, machine.cores() / max(wanted, 1e-9))


def started(pid: int) -> list[str]:
    """The processes that a process has started, from whichever thread, those that these have
    started, and so on, at most `MOST_STARTED`.
    """
    found: list[str] = []
    look = [str(pid)]
    while look and len(found) < MOST_STARTED:
        parent = look.pop()
        for thread in _threads(parent):
            with contextlib.suppress(OSError):
                children = _read(f"/proc/{parent}/task/{thread}/children").decode().split()
                found += children
                look += children
    return found[:MOST_STARTED]


def _threads(pid: str) -> list[str]:
    try:
        return os.listdir(f"/proc/{pid}/task")
    except OSError:  # it has ended
        return []


def _read(path: str) -> bytes:
    """The content of a file of /proc, quicker than through Python's file objects."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(file, 1 << 16)
    finally:
        os.close(file)
