"""Ranks of a notebook: bare processes of this machine that stay warm from run to run.

The first ranks are forked early, as soon as the zygote has imported what no rank can do without.
They would have to import for themselves what it imports later. So once it has imported everything,
complete ranks take their place between two runs. Where nothing can be forked, ranks are spawned
(`distlab.processes.starting`).
"""

from __future__ import annotations

import atexit
import contextlib
import os
import socket
import threading
from collections.abc import Iterable, Iterator, Sequence

from distlab.engines.spawned import SpawnedRanks
from distlab.processes import entry_points, payload
from distlab.processes.starting import Children, Source
from distlab.processes.zygote import NEEDED, TRAINS, ZygoteLost

IDLE = 300.0  # seconds after a run for which ranks are kept
HOLD = 1.0  # seconds, at most, for which the source stops importing in favour of the first ranks
_Asked = tuple[Children, socket.socket]


class WarmRanks(SpawnedRanks):
    """Ranks from a source, which they own: it ends with them.

    Ranks that nobody has used for a while are ended, so that others have their memory. The next run
    starts new ones, which takes no longer than forks do.

    Args:
        source: imports what ranks need, and has begun to.
    """

    STALL = 60.0  # a rank may be busy leaving groups, and inputs may be large

    def __init__(self, size: int, source: Source) -> None:
        self._source, self._owner = source, os.getpid()
        self._asked: list[_Asked] = []
        self._spares: dict[int, _Asked] = {}  # will take the place of ranks that were forked early
        self._runs, self._changing = 0, threading.Lock()
        self._idle: threading.Timer | None = None
        atexit.register(self.close)
        super().__init__(source.folder, None, self._next, source.end)
        self.grow(size)

    def grow(self, size: int) -> None:
        """Have at least `size` ranks."""
        self._wake()
        new = range(len(self), size)
        with self._whole_or_none():
            self._source.prepare(len(new))
            early = bool(new) and self._source.ripens and not self._ripe()
            after, hold = (NEEDED, HOLD) if early else (None, 0.0)
            self._asked = [self._ask(after, hold) for _ in new]
            super().grow(size)
            if early:
                self._spares.update((rank, self._ask()) for rank in new)

    def settle(self) -> None:
        """Between two runs: the spare ranks, if they have started by now, take the place of those
        that were forked early, and new ones that of ranks that have ended meanwhile.
        """
        self._wake()
        with self._whole_or_none():
            self.replace(self._ended(range(len(self))))
            if self._spares and self._ripe():
                self.replace(list(self._spares))
            super().settle()

    def ripen(self, function: payload.Block | None = None) -> bool:
        """Between two runs: wait until complete ranks have taken the place of those that were
        forked early. False where there were none.

        Args:
            function: what runs next, pickled: do so only if it seems to need what these lack.
        """
        early = list(self._spares)
        if early and (function is None or TRAINS.search(function)):
            with self._whole_or_none():
                self.replace(early)
                super().settle()
            return True
        return False

    @contextlib.contextmanager
    def _whole_or_none(self) -> Iterator[None]:
        """Whatever interrupts the start of ranks ends them all, and others begin: an answer that
        the source still owes would be taken for the answer to a later request.
        """
        try:
            yield
        except BaseException:
            self.close()
            raise

    def _ended(self, ranks: Iterable[int]) -> list[int]:
        """Those of these ranks whose process has ended."""
        known = [(rank, found[0]) for rank in ranks if (found := self._ranks[rank])]
        return [rank for rank, pid in known if self._source.ended(pid)]

    def receive(self, timeout: float) -> list[tuple[int, payload.Block | None]]:
        """Of a rank that has ended the connection alone may not tell: processes that it has started
        can hold it open.
        """
        ended = self._ended(self._pending)  # asked first, so that what they said before it counts
        answers = super().receive(0.0 if ended else timeout)
        lost = self._pending.intersection(ended)
        self._pending -= lost
        return answers + [(rank, None) for rank in lost]

    def _ripe(self) -> bool:
        """Has the source imported all that it will, as far as is known?"""
        return bool(self._spares or len(self)) and all(c.there for c, _ in self._spares.values())

    def _ask(self, after: str | None = None, hold: float = 0.0) -> _Asked:
        folder = str(self.folder)
        return self._source.connect(entry_points.WARM, after=after, hold=hold, folder=folder)

    def _next(self) -> tuple[int, socket.socket]:
        children, connection = self._asked.pop(0) if self._asked else self._ask()
        return children.pids()[0], connection

    def _start(self, number: int) -> tuple[int, socket.socket]:
        if number < len(self) and number in self._spares:
            self._asked.insert(0, self._spares.pop(number))
        return super()._start(number)

    def tidy(self, size: int, left: Sequence[int]) -> None:
        """Have them leave the groups of a run that is over, now that nobody waits for it."""
        super().tidy(size, left)
        self.leave(size)
        if self._source.ripens:  # spawned ones would take seconds to come back
            self._idle = threading.Timer(IDLE, self._rest, [self._runs])
            self._idle.daemon = True
            with contextlib.suppress(RuntimeError):  # no thread may start: then they stay
                self._idle.start()

    def _wake(self) -> None:
        """Ranks are about to be used: they are not idle any more."""
        with self._changing:
            self._runs += 1
        if self._idle is not None:
            self._idle.cancel()

    def _rest(self, runs: int) -> None:
        """End the ranks and their spares, if no run has begun since."""
        with self._changing, contextlib.suppress(ZygoteLost):  # then the next run finds it out
            if runs != self._runs:
                return
            self.replace(range(len(self)))
            for rank in [rank for rank, (one, _) in self._spares.items() if one.there]:
                children, connection = self._spares.pop(rank)
                self._end(children.pids()[0], connection)

    def close(self) -> None:
        """End them, and what they are forked from."""
        if os.getpid() != self._owner:  # a fork of the notebook that ends: the ranks are not its
            return
        self._wake()
        self._ranks = []  # first, so that others begin even where the rest of this is interrupted
        self._source.close()
        atexit.unregister(self.close)
