"""Wait until a run is over: hear what its ranks answer, and look at their records meanwhile.

A run is over when every rank has answered, when its deadline has passed, or when its watcher has
proven that it cannot end. Time in which this machine let the ranks do nothing does not count.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from distlab.engines.outcomes import Finding, Run, noted
from distlab.processes import payload
from distlab.processes.stopped import Stopwatch
from distlab.records import events, reading

if TYPE_CHECKING:
    from distlab.engines.live import Show

POLL = 0.05  # seconds between two looks at the records of ranks that have not answered
SOON = 0.003  # seconds after the first answer within which the others usually come
MOST_QUEUED = 2.0  # times its deadline: the most by which waiting for a processor extends a run
GRACE = 1.0  # seconds that the other ranks get when one has died
#: seconds, within the deadline, that a rank whose function has ended gets to send its answer: a
#: busy machine is slow
ANSWER = 10.0
#: seconds that a check goes on after a rank has raised, which decides it: long enough to tell where
#: the ranks that wait for that one stand
RAISED = 5.0

#: may also have methods `conflict(records)` and `hindsight(records)`, as `deadlock.Watcher` has
Watcher = Callable[[Sequence[events.RankRecord], set[int]], Any]
Receive = Callable[[float], list[tuple[int, payload.Block | None]]]


class Watching:
    """Waits until a run is over.

    Args:
        receive: what ranks answer within so many seconds; `None` is told of one that has died.
        queued: seconds that the ranks, all together, have waited for a processor until now. To ask
            costs more than most runs take, so it is first asked when `POLL` seconds have passed.
        folder: where their records are.
        begin: when the run began, on the monotonic clock.
        watch: looks at the records meanwhile and may end the run.
        show: is handed what is seen at each look.
        patience: seconds that the run goes on after a rank has raised.
        clock: of this process, since the run began: its stops are no fault of the ranks.
    """

    def __init__(
        self, receive: Receive, queued: Callable[[], float], run: Run, folder: Path, begin: float,
        watch: Watcher | None, show: Show | None, patience: float, clock: Stopwatch,
    ) -> None:  # fmt: skip
        self._receive, self._run, self._begin = receive, run, begin
        self._watch, self._show, self._patience, self._clock = watch, show, patience, clock
        self._deadline = begin + run.deadline
        self._waiting = set(range(run.size))  # ranks that have not answered
        self._dead: set[int] = set()
        self._queued: Callable[[], float] = queued
        self._queued_before: float | None = None  # at the first look, and what passed before it
        self._unseen = 0.0
        self._followers = [
            reading.Follower(f"{folder}/{rank}.rec", rank, run.size) for rank in range(run.size)
        ]

    def until_over(self) -> set[int]:
        """Returns the ranks that must be replaced: those that are still busy, and the dead. Who
        interrupts the run (a notebook's stop button) ends it: the run says so.
        """
        try:
            self._until_over()
        except KeyboardInterrupt as interrupt:
            self._run.interrupt = interrupt
        return self._waiting | self._dead

    def _until_over(self) -> None:
        due = self._begin + POLL  # when to look at the records again
        while self._waiting:
            left = self._seconds_left()
            if left <= 0:
                self._hear(0.0)  # answers may have lain there for long
                if self._waiting:
                    self._time_is_up()
                break
            none_yet = len(self._waiting) == self._run.size
            if self._hear(min(max(due - time.monotonic(), 0.0), left)):
                self._end_within(GRACE)
                due = 0.0
            if none_yet and len(self._waiting) < self._run.size:
                due = min(due, time.monotonic() + SOON)  # the others may hang already
            if any(one.status == "raised" for one in self._run.outcomes):
                self._end_within(self._patience)
                self._patience = math.inf  # it counts from the first
            if self._waiting and time.monotonic() >= due:
                self._begin_to_count()
                due = time.monotonic() + POLL
                if self._watch is not None and self._look(self._watch):
                    break
        self._run.queued = self._waited()

    def _begin_to_count(self) -> None:
        passed = self._clock.seconds()
        if self._queued_before is None and passed >= POLL:
            self._unseen, self._queued_before = passed, self._queued()

    def _waited(self) -> float:
        """Seconds in which a busy machine let the ranks do nothing: all of them until the first
        look, in favour of the answer.
        """
        if self._queued_before is None:
            waited = self._clock.seconds()
        else:
            waited = self._unseen + max(self._queued() - self._queued_before, 0.0)
        return min(waited, MOST_QUEUED * self._run.deadline)

    def _seconds_left(self) -> float:
        """Until the deadline, which a busy machine puts off: it is not the fault of the ranks."""
        self._clock.seconds()
        left = self._deadline - time.monotonic()
        if left <= 0 and not self._dead:
            self._run.queued = self._waited()
            left += self._run.queued + self._clock.stopped
        return left

    def _end_within(self, seconds: float) -> None:
        self._deadline = min(self._deadline, time.monotonic() + seconds)

    def _time_is_up(self) -> None:
        self._run.timed_out = True
        why = Finding("timeout", f"It had not ended after {self._run.deadline:g} s.")
        self._tell(self._records(), why)

    def _hear(self, timeout: float) -> bool:
        """Take what ranks answer within `timeout` seconds; has one died?"""
        before = len(self._dead)
        for rank, reply in self._receive(timeout):
            self._waiting.discard(rank)
            if reply is None or not noted(self._run, rank, reply):
                self._dead.add(rank)
                self._run.outcomes[rank].status = "crashed"
                self._run.outcomes[rank].seconds = time.monotonic() - self._begin
        return len(self._dead) > before

    def _records(self) -> list[events.RankRecord]:
        return [follower.look() for follower in self._followers]

    def _hear_and_look(self) -> list[events.RankRecord]:
        self._hear(POLL)
        return self._records()

    def _look(self, watch: Watcher) -> bool:
        """Have the watcher look at the records; has it ended the run?"""
        seen = self._records()
        finding = watch(seen, self._dead)
        if finding and (settled := getattr(watch, "settled", None)):
            finding = settled(finding, self._dead, self._hear_and_look)
            seen = self._records()
        if _cannot_begin(seen, self._waiting):
            self._end_within(GRACE)
        self._tell(seen, finding)
        self._run.finding = finding
        if finding:
            self._hear_ended({rank for rank in self._waiting if seen[rank].ended})
        return bool(finding)

    def _tell(self, seen: Sequence[events.RankRecord], finding: Any) -> None:
        """Hand a look to whoever shows the run."""
        if self._show is not None:
            self._show(seen, getattr(self._watch, "ledger", None), finding)

    def _hear_ended(self, ended: set[int]) -> None:
        """What ranks whose function has ended returned or raised is on its way: wait for it."""
        now = time.monotonic()
        end = min(max(self._deadline, now + GRACE), now + ANSWER)
        while ended & self._waiting and time.monotonic() < end:
            self._hear(POLL)


def _cannot_begin(looks: Sequence[events.RankRecord], waiting: set[int]) -> bool:
    """Does every rank that has not answered wait for a rank that ended before it joined them?"""
    gone = any(not look.begin for look in looks if look.rank not in waiting)
    return gone and not any(looks[rank].begin for rank in waiting)
