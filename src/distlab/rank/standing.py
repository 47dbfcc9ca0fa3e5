"""Where a rank computes, or stands still outside of recorded operations: at a store, a queue, a
lock, a child process, in `init_process_group`.

What it waits for there is not on record, so nothing can be proven of it. But a function that has
not computed for the last second of its run, and has not moved from its line, says most when that
line is told.

Many waits look again every few milliseconds (`FileStore` does). On a busy machine each look waits
for a processor, and so does whoever computes. The two differ in what they do with it: a look takes
microseconds, and who computes keeps the processor for as long as it is left to them.
"""

from __future__ import annotations

import _thread
import contextlib
import functools
import gc
import math
import os
import sys
import time
import types
from collections.abc import Callable
from dataclasses import dataclass

from distlab.rank.threads import start_uncounted

PATIENCE = 1.0  # seconds without computing
SHORTEST = 4 * PATIENCE  # runs that may last less long are not looked at
_COMPUTES = 0.05  # share of the time that polling may take
_LOOK = 0.25e-3  # seconds of processor that one look takes at most
_ALL = 0.95  # share of the time in which who computes has a processor or waits for one

#: (function, line, position) of the student's innermost frame, and the function of
#: torch.distributed's that it has called there
Place = tuple[bytes, int, int, bytes]
Where = Callable[[types.FrameType | None], Place | None]


@dataclass(frozen=True)
class Moment:
    """Where a thread is, and what it has had so far: seconds of a processor, seconds of waiting for
    one, and how often it got one. `wants`: it has or wants one now.
    """

    place: Place | None
    now: float
    had: float
    queued: float = 0.0
    turns: int = 0
    wants: bool = False

    def stands_since(self, before: Moment) -> bool:
        """Has the thread not moved, and not computed either?"""
        if self.place is None or self.place != before.place:
            return False
        seconds, turns = self.now - before.now, self.turns - before.turns
        had, queued = self.had - before.had, self.queued - before.queued
        if had >= _COMPUTES * seconds or (self.wants and not turns):  # the latter: it never got one
            return False
        if had + queued < _COMPUTES * seconds:
            return True
        return had < _LOOK * turns and had + queued < _ALL * seconds


def _computed(thread: int) -> Callable[[], float]:
    """What tells how many seconds of a processor a thread has had; where the system does not know
    of single threads (macOS), those of its whole process: who stands still then has company that
    does as well.
    """
    if not hasattr(time, "pthread_getcpuclockid"):
        return time.process_time
    return functools.partial(time.clock_gettime, time.pthread_getcpuclockid(thread))


#: as they are now: a student's code can put something else in their place
_collects, _collect_no_more, _collect_again = gc.isenabled, gc.disable, gc.enable


def _frame(thread: int) -> types.FrameType | None:
    """The innermost frame of a thread. Nothing is collected meanwhile: before Python 3.12
    `_current_frames` holds a lock that the end of a `threading.local` takes as well, and so would
    wait for itself for ever, with all other threads (https://github.com/python/cpython/issues/106883).
    """
    collects = _collects()
    _collect_no_more()
    try:
        return sys._current_frames().get(thread)
    finally:
        if collects:
            _collect_again()


class Standing:
    """Looks at the thread that makes it, once a second until the function has ended.

    Args:
        last: when the run is ended, on the monotonic clock.
        place: the student's innermost frame, from a frame.
        note: called with the place where the thread is, and whether it stands there and does not
            compute.
    """

    def __init__(
        self, last: float, place: Where, note: Callable[[Place | None, bool], None]
    ) -> None:
        self._place, self.note = place, note
        self._thread = _thread.get_ident()
        self._computed = _computed(self._thread)
        self._task = f"/proc/self/task/{_thread.get_native_id()}"
        if SHORTEST <= last - time.monotonic() < math.inf:
            _looks.begin(self)

    def end(self) -> None:
        _looks.end(self)

    def moment(self) -> Moment:
        place = self._place(_frame(self._thread))
        now, had = time.monotonic(), self._computed()
        with contextlib.suppress(OSError, ValueError, IndexError):  # not every kernel tells
            with open(f"{self._task}/schedstat") as file:
                _, queued, turns = map(int, file.read().split())
            with open(f"{self._task}/stat") as file:
                state = file.read().rpartition(")")[2].split()[0]
            return Moment(place, now, had, queued / 1e9, turns, wants=state == "R")
        return Moment(place, now, had)


class _Looks:
    """The one thread that looks, for all runs of a process: to start and end one for each takes as
    long as the rest of what is written down of a short run. It ends once no run goes on.
    """

    def __init__(self) -> None:
        self._turn, self._there = _thread.allocate_lock(), False
        self._at: Standing | None = None
        self._number = 0  # of the run: the thread keeps nothing of one that has ended
        self._before: tuple[int, Moment] | None = None

    def begin(self, standing: Standing) -> None:
        with self._turn:
            self._at, self._number = standing, self._number + 1
            if not self._there:
                with contextlib.suppress(RuntimeError):  # no thread may start: then nothing is told
                    # none of threading's: it would be among those that a student's code counts
                    start_uncounted(self._look, ())
                    self._there = True

    def end(self, standing: Standing) -> None:
        with self._turn:
            if self._at is standing:
                self._at = None

    def _look(self) -> None:
        try:
            while self._goes_on():
                _pause(PATIENCE)
                self._look_once()
        except BaseException:
            with self._turn:
                self._there = False  # the next run has another thread
            raise

    def _goes_on(self) -> bool:
        with self._turn:
            self._there = self._at is not None
            return self._there

    def _look_once(self) -> None:
        """Note where the function is, and whether it has stood still there since the last look."""
        with self._turn:
            standing, number = self._at, self._number
        if standing is None:
            return
        now = standing.moment()
        known, before = self._before or (0, now)
        standing.note(now.place, known == number and now.stands_since(before))
        self._before = number, now


_pause = time.sleep  # a student's code can put something else in its place
_looks = _Looks()


def _forget() -> None:
    """A fork does not have the thread, and may have been made while that had its turn."""
    global _looks
    _looks = _Looks()


os.register_at_fork(after_in_child=_forget)
