"""Where a rank stands still outside torch.distributed: at a store, a queue, a lock, a child.

What it waits for there is not on record, so nothing can be proven of it. But a function that has
not computed for the last second of its run, and has not moved from its line, says most when that
line is told.
"""

from __future__ import annotations

import _thread
import contextlib
import math
import sys
import time
import types
from collections.abc import Callable

PATIENCE = 1.0  # seconds without computing
SPARE = 0.5  # before the run is ended, so that the note is there in time
SHORTEST = 4 * PATIENCE  # runs that may last less long are not looked at
_COMPUTES = 0.05  # share of the time that polling may take, with waiting for a processor

#: (function, line, position) of the student's innermost frame
Place = tuple[bytes, int, int]
Where = Callable[[types.FrameType | None], Place | None]


class Standing:
    """Looks at the thread that makes it, twice, shortly before `last` on the monotonic clock.

    Args:
        place: the student's innermost frame, from a frame.
        note: called with the place if the thread stands there and does not compute.
    """

    def __init__(self, last: float, place: Where, note: Callable[[Place], None]) -> None:
        self._ended = _thread.allocate_lock()
        self._ended.acquire()
        self._last, self._place, self._note = last, place, note
        self._thread = _thread.get_ident()
        self._clock = time.pthread_getcpuclockid(self._thread)
        self._delays = f"/proc/self/task/{_thread.get_native_id()}/schedstat"
        if SHORTEST <= last - time.monotonic() < math.inf:
            # none of threading's: it would be among the threads that a student's code counts
            _thread.start_new_thread(self._look, ())

    def end(self) -> None:
        with contextlib.suppress(RuntimeError):  # it is told already
            self._ended.release()

    def _until(self, moment: float) -> bool:
        """Wait until then; False if the function has ended before."""
        left = min(max(moment - time.monotonic(), 0.0), _thread.TIMEOUT_MAX)
        if not self._ended.acquire(timeout=left):
            return True
        self._ended.release()
        return False

    def _where(self) -> tuple[Place | None, float]:
        frame = sys._current_frames().get(self._thread)
        return self._place(frame), time.clock_gettime(self._clock) + self._queued()

    def _queued(self) -> float:
        """Seconds that the thread has waited for a processor: on a busy machine it may get none."""
        with contextlib.suppress(OSError, ValueError, IndexError), open(self._delays) as file:
            return int(file.read().split()[1]) / 1e9
        return 0.0

    def _look(self) -> None:
        end = self._last - SPARE
        if not self._until(end - PATIENCE):
            return
        before, spent = self._where()
        if not self._until(end):
            return
        after, spent_then = self._where()
        if after is not None and after == before and spent_then - spent < _COMPUTES * PATIENCE:
            self._note(after)
