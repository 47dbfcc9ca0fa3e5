"""A rank's clock, which can leave out what a rank waits for because its machine is overloaded.

On a machine with more work than processors, a rank that wakes up late looks like a rank on a slow
link. A steady clock counts the processor time of its thread and the waits that it is told of
(`wait_until`): for a link, and for what another rank does at a moment of that rank's own steady
clock. It does not count how long the thread waits for a processor, for a lock, or for a rank that
is late because it waits for one of these.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Mark:
    """A moment, by the rank's clock and by the machine's."""

    shown: float
    real: float


class Clock:
    """The machine's monotonic clock, or a steady clock of the thread that makes this.

    `log`: a mark for each look at a steady clock.
    """

    def __init__(self, steady: bool) -> None:
        self._steady, self._thread = steady, threading.get_ident()
        self._ahead = time.monotonic() - time.thread_time()  # of the thread's processor time
        self.log: list[Mark] = []

    def mark(self) -> Mark:
        """What the clock shows now."""
        real = time.monotonic()
        if not self._steady:
            return Mark(real, real)
        if threading.get_ident() != self._thread:  # no thread can ask for another's processor time
            last = self.log[-1]
            return Mark(last.shown + real - last.real, real)
        self.log.append(Mark(self._ahead + time.thread_time(), real))
        return self.log[-1]

    def now(self) -> float:
        return self.mark().shown

    def sleep(self, until: float, begun: Mark) -> None:
        """Sleep until a moment of this clock; the time since the mark `begun` has passed on it."""
        while (left := until - begun.shown - (time.monotonic() - begun.real)) > 0:
            time.sleep(left)

    def wait_until(self, moment: float, begun: Mark) -> None:
        """The same; afterwards a steady clock shows that moment, unless it shows a later one."""
        self.sleep(moment, begun)
        if self._steady and threading.get_ident() == self._thread:
            self.show(max(moment, self.now()))

    def show(self, moment: float) -> None:
        """Set a steady clock."""
        self._ahead = moment - time.thread_time()
        self.mark()
