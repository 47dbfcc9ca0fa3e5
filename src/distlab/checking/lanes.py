"""One submission judged in several lanes at once, each with a part of its exercises."""

from __future__ import annotations

import contextlib
import threading


class CellsDoubtful(Exception):
    """In a lane, cells hung or ended their process, which may have been the machine's fault."""


class LaneEnded(Exception):
    """Another lane of the same submission has ended before its time, which says why."""


class Lanes:
    """The lanes of one submission, which wait for each other between visible and hidden cases. None
    runs hidden cases while another runs what is told in full: code that sees a hidden input could
    pass it on to code whose output is shown, by a lock on a file, say, or by the load.

    Args:
        count: how many there are, each in a thread of its own.
    """

    def __init__(self, count: int) -> None:
        self._barrier, self._one = threading.Barrier(count), threading.Lock()

    def meet(self) -> None:
        """Wait for the others.

        Raises:
            LaneEnded: one of them has ended.
        """
        try:
            self._barrier.wait()
        except threading.BrokenBarrierError:
            raise LaneEnded from None

    def end(self) -> None:
        """This lane has ended: the others must not wait for it."""
        self._barrier.abort()

    def alone(self) -> contextlib.AbstractContextManager[object]:
        """A context manager that only one lane at a time can be in."""
        return self._one
