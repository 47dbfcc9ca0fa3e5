"""Who waits for whom, and that it can never end.

A verdict here is a proof, not a matter of patience. A rank that computes may still post anything,
so whoever it could release is not stuck; an operation whose match is posted will end, however long
that takes. What remains when nobody else can be released can never move again: ranks that wait for
each other, or for one that has ended. Sends are taken to wait for their receive, as gloo's do and
as MPI allows: a program that only buffers let through is wrong.

How this is known to be safe although the ranks' records are read one after the other: a verdict
needs each stuck rank to sit in the same operation, with as many operations begun, in two looks.
Between the looks none of them can have done anything, and ranks that have ended do nothing more.

An operation whose own timeout passes before the run's deadline ends by itself, with an exception
that a program may expect: whoever waits in one is not stuck. That it could have ended in no other
way is told once the timeout has passed (`Watcher.hindsight`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

from distlab.records.events import (
    AGAIN,
    ANY_SOURCE,
    DONE,
    FAILED,
    FORCED,
    MADE_TRUE,
    POSTED,
    RAISED,
    ROOTED,
    RUNNING,
    Event,
    RankRecord,
)
from distlab.records.explain import Deadlock, Explanation, Wait, conflict_verdict
from distlab.records.lint import Remark, remarks
from distlab.records.matching import Conflict, Ledger, sits_in

__all__ = ["Deadlock", "Remark", "Wait", "Watcher", "remarks"]

#: Seconds that a stand-still must last before it is believed where the proof leans on a convention:
#: MPI's rule that a broadcast's root may wait for the receivers, or that `backward` sends nothing.
PATIENCE = 0.5
#: Kinds of verdicts on operations that match and don't fit.
CONFLICTS = {"mismatch", "message-size", "order", "new_group"}
#: Bytes a second that even a crowded machine moves: so much longer a transfer may take.
SLOW = 20e6
#: Seconds that the ranks of a run that can't end have to come to where they will stand.
SETTLE = 0.3

#: By rank, the positions of the operations that it sits in, one for each of its agents.
Blocked = dict[int, tuple[int, ...]]
#: Of one rank: these positions, its number of operations, of agents and of waiting callbacks.
_Mark = tuple[tuple[int, ...], int, int, int]

#: Looks at the records of all ranks, and at the set of those whose process has died.
Watch = Callable[[Sequence[RankRecord], set[int]], Deadlock | None]


class Watcher:
    """Looks at the records of one run again and again, and says when it can't end.

    Call it with the records of all ranks, in order, and the set of ranks whose process has died. It
    returns a `Deadlock` or None, and costs time in what is new since the last look alone.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._ledger: Ledger | None = None
        self._since: dict[int, tuple[_Mark, float]] = {}
        self._doubts = 0

    @property
    def ledger(self) -> Ledger | None:
        """The operations as they were filed at the last look."""
        return self._ledger

    def __call__(self, records: Sequence[RankRecord], dead: set[int]) -> Deadlock | None:
        if self._ledger is None or self._ledger.size != len(records):
            self._ledger = Ledger(len(records))
        ledger = self._ledger
        ledger.update(records)
        if found := self._conflict(ledger):
            return found
        blocked, held = blocked_ranks(ledger, dead)
        known, now = self._since, self._clock()
        self._since = {}
        for rank, places in held.items():
            record = records[rank]
            mark = (places, len(record.events), record.agents, record.pending)
            same = rank in known and known[rank][0] == mark
            self._since[rank] = known[rank] if same else (mark, now)
        for strict, among in ((False, blocked), (True, held)):
            still = {
                rank for rank, since in self._since.items()
                if known.get(rank) == since
                and now - since[1] >= strict * _patience(ledger, rank, held[rank])
            }  # fmt: skip
            stuck = stuck_ranks(ledger, without_end(ledger, among), dead, strict)
            if stuck and stuck.keys() <= still:
                return Explanation(ledger, stuck, dead).verdict()
        return None

    def settled(
        self, found: Deadlock, dead: set[int], look: Callable[[], Sequence[RankRecord]]
    ) -> Deadlock:
        """The verdict on a run that can't end, once its other ranks have come to stand as well.

        A few ranks that stand can be proof enough. Which others stand by then is chance, and the
        verdict must not depend on that.

        Args:
            dead: the ranks whose process has died; `look` may add to it.
            look: waits a moment and returns the records as they are then.
        """
        if not isinstance(found, Deadlock):
            return found  # by a watcher of other things too
        end = self._clock() + SETTLE
        while self._going_on(found, dead) and self._clock() < end:
            found = self(look(), dead) or found
        return self._first_conflict() or found

    def _going_on(self, found: Deadlock, dead: set[int]) -> bool:
        """Is there a rank that may yet come to stand?"""
        ledger = self._ledger
        if ledger is None:
            return False
        stuck = {wait.rank for wait in found.waits} | dead
        others = (one for one in ledger.records if not one.over and one.rank not in stuck)
        # of a conflict only its two ranks are among `found.waits`
        return any(not (ledger.conflicts and sits_in(ledger, one.rank)) for one in others)

    def _first_conflict(self) -> Deadlock | None:
        """Of several conflicts the first in the order of ranks, not the one that was seen first."""
        if self._ledger is None or not self._ledger.conflicts:
            return None
        ledger = Ledger(self._ledger.size)
        ledger.update(self._ledger.records)
        for conflict in ledger.conflicts:
            # a call of new_group is noted once torch has taken its arguments
            if conflict.kind == "new_group" or _is_certain(ledger, conflict):
                return conflict_verdict(ledger, conflict)
        return None

    def waits_in_vain(self) -> bool:
        """Is there no match for an operation that a schedule has chosen one for?"""
        ledger = self._ledger
        return ledger is not None and any(
            event.flags & FORCED and not can_end(ledger, rank, at, set(), strict=False)
            for rank in range(ledger.size)
            for at, event in ledger.open(rank)
        )

    def conflict(
        self, records: Sequence[RankRecord], dead: Collection[int] = ()
    ) -> Deadlock | None:
        """Two operations that don't fit together, in a run in which nothing happens any more.

        gloo answers them by a crash, by an error on one side or by silence, as it happens; what the
        records say of them is always the same. Only for a receive from any source they don't say
        which message it took: a process that has died in it does.
        """
        ledger = Ledger(len(records))
        ledger.update(records)
        overrun = (ledger.overrun(rank, at) for rank in sorted(dead) for at, _ in ledger.open(rank))
        found = next((c for c in (*ledger.conflicts, *overrun) if c), None)
        return conflict_verdict(ledger, found) if found else None

    def hindsight(self, records: Sequence[RankRecord]) -> Deadlock | None:
        """Why ranks that were ended by timeouts of their own could not have gone on otherwise.

        Takes a run in which nothing happens any more, as it was before the first timeout passed. A
        rank whose peer gives up fails too, because its connection is closed.
        """
        if not any(record.gave_up() for record in records):
            return None
        ledger = Ledger(len(records))
        ledger.update([_before_it_failed(record) for record in records])
        blocked, held = blocked_ranks(ledger, set())
        for strict, among in ((False, blocked), (True, held)):
            if stuck := stuck_ranks(ledger, among, set(), strict):
                return Explanation(ledger, stuck, set()).verdict()
        return None

    def _conflict(self, ledger: Ledger) -> Deadlock | None:
        """A conflict that is certain, or that was there at the last look already."""
        conflicts, doubts = ledger.conflicts, self._doubts
        self._doubts = len(conflicts)
        for number, conflict in enumerate(conflicts):
            if number < doubts or _is_certain(ledger, conflict):
                return conflict_verdict(ledger, conflict)
        return None


class Scheduled:
    """Watches a run that follows a schedule, for which a receive from anybody waits for one rank.

    For verdicts on the program that receive waits for anybody, as the program says. If the run
    can't end because the message that the schedule wants never comes, no run has this schedule: the
    finding's kind is "impossible".
    """

    def __init__(self, watch: Watch) -> None:
        self._watch, self._narrow = watch, Watcher()

    def __call__(self, records: Sequence[RankRecord], dead: set[int]) -> Deadlock | None:
        found = self._watch(records, dead)
        if found is None:
            found = self._narrow([_narrowed(record) for record in records], dead)
            vain = (
                found is not None and found.kind not in CONFLICTS and self._narrow.waits_in_vain()
            )
            if vain:
                return Deadlock("impossible", "no run has this schedule", "", (), ())
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._watch, name)


def _narrowed(record: RankRecord) -> RankRecord:
    """A record in which a receive whose source a schedule chose names it, and polls are waits."""
    return replace(record, events=[_narrowed_event(event) for event in record.events])


def _narrowed_event(event: Event) -> Event:
    if event.chosen is not None:
        return replace(event, peer=event.chosen, flags=event.flags & ~ANY_SOURCE)
    if event.flags & MADE_TRUE:
        return replace(event, flags=event.flags & ~MADE_TRUE | FORCED)
    return event


def _is_certain(ledger: Ledger, conflict: Conflict) -> bool:
    """Have both operations begun for certain? torch may still refuse one that was just called."""
    return all(e.state == DONE or e.wait_begin for e in map(ledger.event, conflict.pair))


def _patience(ledger: Ledger, rank: int, places: tuple[int, ...]) -> float:
    """Seconds within which these operations would have ended if all that they need were there."""
    return PATIENCE + sum(ledger.event((rank, at)).nbytes for at in places) / SLOW


def _before_it_failed(record: RankRecord) -> RankRecord:
    """A record as it was while the rank still waited in the operation that then ended it."""
    last = record.events[-1] if record.events else None
    if record.progress != RAISED or last is None or last.state != FAILED or not last.wait_begin:
        return record
    waits = replace(last, state=POSTED, end=0.0, wait_end=0.0)
    return replace(record, progress=RUNNING, end=0.0, events=[*record.events[:-1], waits])


def blocked_ranks(ledger: Ledger, dead: set[int]) -> tuple[Blocked, Blocked]:
    """The ranks that sit in operations, each with their positions in the rank's record.

    Returns those that are seen to wait, and these together with those in a `backward` that can't
    return before an operation ends.
    """
    blocked, held = {}, {}
    for rank, record in enumerate(ledger.records):
        if rank in dead or record.over or rank in ledger.blind:
            continue
        if places := sits_in(ledger, rank):
            blocked[rank] = held[rank] = places
        elif places := sits_in(ledger, rank, held=True):
            held[rank] = places
    return blocked, held


def without_end(ledger: Ledger, blocked: Blocked) -> Blocked:
    """Those of `blocked` that no timeout of their own releases while the run lasts."""
    return {
        rank: places
        for rank, places in blocked.items()
        if not any(ledger.event((rank, at)).until for at in places)
    }


def stuck_ranks(ledger: Ledger, blocked: Blocked, dead: set[int], strict: bool) -> Blocked:
    """Those of `blocked` that nobody can ever release.

    Args:
        strict: take every collective to wait for all members, as a portable program must. Otherwise
            only for those whose data it needs.
    """
    stuck = dict(blocked)
    free = {
        rank
        for rank, record in enumerate(ledger.records)
        if rank not in blocked and (rank in ledger.blind or not (record.over or rank in dead))
    }
    released = list(stuck)
    while released:
        released = [
            rank
            for rank, places in stuck.items()
            if any(can_end(ledger, rank, at, free, strict) for at in places)
        ]
        free.update(released)
        for rank in released:
            del stuck[rank]
    return stuck


def can_end(ledger: Ledger, rank: int, at: int, free: set[int], strict: bool) -> bool:
    """Can this operation end, if the ranks in `free` may post anything?"""
    event = ledger.event((rank, at))
    if event.flags & AGAIN:
        return False
    if event.is_message:
        if any(other in free for other in ledger.partners(event)):
            return True
        met = ledger.send_met if event.op == "send" else ledger.receive_met
        return met(rank, at)
    absent = set(ledger.absentees(rank, at)) - free
    root = event.peer
    gives = event.op == "gather" and root != rank  # to the root alone, whoever else is late
    if not absent or (strict and not gives) or event.op not in ROOTED or root is None:
        return not absent
    if root != rank:
        return root not in absent
    if event.op in ("gather", "reduce"):
        return False
    return len(absent) < len(event.group) - 1
