"""How much time the ranks of a run have had, by their own heartbeats.

Seconds on the clock say nothing about a rank that the machine holds up. A rank that beats has had
time.
"""

from __future__ import annotations

import _thread
import contextlib
import math
import os
import time
from collections.abc import Iterator

from distlab.rank.sharing import Board
from distlab.rank.threads import start_uncounted

BEAT = 0.05  # seconds between two beats
_NOTE = "beats"
_pause = time.sleep  # a student's code can put something else in its place


class Beats:
    """Beats for this rank while its context lasts, and hears those of the others."""

    def __init__(self, board: Board) -> None:
        self._board, self._over = board, False
        self._turn = _thread.allocate_lock()  # a note left after the end would outlive the run

    @contextlib.contextmanager
    def beating(self) -> Iterator[None]:
        # uncounted: unlike the function's own threads, it never communicates
        start_uncounted(self._beat, ())
        rank = os.getpid()
        try:
            yield
        finally:
            if os.getpid() == rank:  # not in a fork of the function's, which has no such thread
                with self._turn:
                    self._over = True
                    self._note(math.inf)  # whoever has ended does nothing more

    def _beat(self) -> None:
        count = 0
        while self._noted(count := count + 1):
            _pause(BEAT)

    def _noted(self, count: int) -> bool:
        """Note one more beat, unless this rank has ended; returns whether it goes on."""
        with self._turn:
            if not self._over:
                self._note(count)
            return not self._over

    def _note(self, count: float) -> None:
        with contextlib.suppress(OSError):  # a full disk, say: one beat less
            self._board.note(_NOTE, str(count))

    def counted(self) -> dict[int, float]:
        """How often each rank has beaten until now."""
        heard = self._board.notes(_NOTE)
        return {rank: float(heard.get(rank, 0)) for rank in range(self._board.size)}


class Patience:
    """Over once `seconds` have passed and each of these ranks has had that much time itself."""

    def __init__(self, beats: Beats, ranks: list[int], seconds: float) -> None:
        self._beats, self._ranks, self._seconds = beats, ranks, seconds
        self._begin, self._before = time.monotonic(), beats.counted()

    @property
    def over(self) -> bool:
        if time.monotonic() - self._begin < self._seconds:
            return False
        now, needed = self._beats.counted(), self._seconds / BEAT / 2  # a beat takes time as well
        return all(
            now[rank] == math.inf or now[rank] - self._before[rank] >= needed
            for rank in self._ranks
        )
