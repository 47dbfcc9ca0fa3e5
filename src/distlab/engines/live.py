"""A run shown while it goes on: looks at its records, handed to the front end.

Whoever drives a run looks at its records anyway. A picture is made of the last operations of such
a look, in the same thread, so that nothing has to run beside it. It goes to the front end as the
state of the one widget that a kernel has (`distlab.viz.widget.kernel`): ipykernel sends from a
thread of its own, even while a cell runs, and a front end that missed a look shows the next one.

Pictures may take a small share of a run's time (`Purse`); what does not fit into that is not shown.
Whatever goes wrong here ends the picture and not the run.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from distlab.records import reports
from distlab.records.events import RankRecord
from distlab.records.matching import Ledger
from distlab.records.tail import Tail
from distlab.viz.widget import kernel

if TYPE_CHECKING:
    from distlab.viz.run_model import Model

EVENTS = 480  # operations that a picture shows, of all ranks together
AT_LEAST = 24  # and of each rank at least
OFTEN = 0.2  # seconds, at least, between the first two pictures; the pause then doubles each time
SELDOM = 3.2  # seconds that it grows to at most
FIRST = 0.05  # seconds that a cell may spend on pictures at once
SHARE = 0.005  # of the time that passes, what it may spend beyond these


class Purse:
    """Time to spend on pictures: some at once, then a share of the time that passes.

    A front end on the same machine takes about three times as much to draw them. So they follow
    quickly on each other when a run begins, and then ever less often.

    Args:
        clock: the time, in seconds.
        effort: seconds in which this thread had a processor, which the ranks could not use then.
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic,
        effort: Callable[[], float] = time.thread_time,
    ) -> None:  # fmt: skip
        self._clock, self._effort = clock, effort
        self._begin = clock()
        self._last, self.spent = -math.inf, 0.0
        self.again()

    def again(self) -> None:
        """A new run begins: its first pictures may follow quickly on each other."""
        self._apart = OFTEN / 2

    def open(self) -> bool:
        """May another picture be made?"""
        now = self._clock()
        return now >= self._last + self._apart and self.spent <= FIRST + SHARE * (now - self._begin)

    @contextlib.contextmanager
    def paying(self) -> Iterator[None]:
        """What this block takes is counted as spent."""
        begin = self._effort()
        try:
            yield
        finally:
            self.spent += self._effort() - begin
            self._apart = min(2 * self._apart, SELDOM)
            self._last = self._clock()


class Live:
    """What shows the runs of one cell, one after the other.

    Args:
        what: what is run, in words.
        push: takes what is to be shown to the front end; raises where it can't.
        clock: the monotonic clock of the records, in seconds.
    """

    def __init__(
        self, what: str, push: Callable[[dict[str, Any]], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self.what, self._push, self._clock = what, push, clock
        self.purse = Purse(clock)
        self.shown = 0  # looks
        self._works = True
        self._run = 0

    def of(self, folder: Path, size: int) -> Show:
        """A `Show` for the run whose records lie in `folder`."""
        self._run += 1
        self.purse.again()
        return Show(self, self._run, folder, size)

    def send(self, run: int, made: Callable[[], Model], over: bool = False) -> None:
        """Show this look, where it can be shown."""
        if not self._works:
            return
        try:
            with self.purse.paying():
                told = made()
                self._push({
                    "run": run, "what": self.what, "over": over, "at": self._clock(),
                    "tree": told.tree, "columns": told.buffers(),
                })  # fmt: skip
                self.shown += 1
        except Exception:  # a picture costs nobody a run
            self._works = False

    def end(self) -> None:
        """The cell's runs are over: what stays of them on the page is up to the front end."""
        if self.shown and self._works:
            with contextlib.suppress(Exception):
                self._push({})


class Show:
    """Looks at one run: call it with what was seen of it."""

    def __init__(self, live: Live, run: int, folder: Path, size: int) -> None:
        self._live, self._run = live, run
        self._tail = Tail(size, max(AT_LEAST, EVENTS // size))
        self._told = [reports.Follower(folder / f"{r}{reports.SUFFIX}") for r in range(size)]
        self._events = 0

    def __call__(
        self, records: Sequence[RankRecord], ledger: Ledger | None, finding: Any = None
    ) -> None:
        """Show a look.

        Args:
            records: of all ranks, as they are now.
            ledger: the watcher's, which has these records in it.
            finding: why the run is being ended, if it is.
        """
        live = self._live
        if ledger is None or not (finding or live.purse.open()):
            return
        if not any(record.events for record in records):
            return  # nothing is to be seen yet
        from distlab.viz.run_model import model

        def made() -> Model:
            tails, pairs, begin = self._tail.look(records, ledger)
            message = getattr(finding, "message", "")
            now = 0.0 if finding else max(live._clock(), begin)
            sources = kernel.sources(tails)
            return model(
                tails, pairs, title=live.what, verdict=message, sources=sources,
                reports=self._reports(records), now=now,
            )  # fmt: skip

        live.send(self._run, made, over=bool(finding))

    def _reports(self, records: Sequence[RankRecord]) -> list[list[reports.Report]]:
        return [told.look(record.offset) for told, record in zip(self._told, records, strict=True)]


@contextlib.contextmanager
def shown(what: str) -> Iterator[Live | None]:
    """Show the runs of this block while they go on, where there is a front end that can.

    Args:
        what: what is run, in words.
    """
    push = kernel.pushed()
    if push is None:
        yield None
        return
    live = Live(what, push)
    try:
        yield live
    finally:
        live.end()
