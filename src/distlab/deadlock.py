"""Who waits for whom, and that it can never end.

A verdict here is a proof, not a matter of patience. A rank that computes may still post anything,
so whoever it could release is not stuck; an operation whose match is posted will end, however long
that takes. What remains when nobody else can be released can never move again: ranks that wait for
each other, or for one that has ended. Sends are taken to wait for their receive, as gloo's do and
as MPI allows: a program that only buffers let through is wrong.

How this is known to be safe although the ranks' records are read one after the other: a verdict
needs each stuck rank to sit in the same operation, with as many operations begun, in two looks.
Between them none of them can have done anything, and ranks that have ended do nothing more.

An operation whose own timeout passes before the run's deadline ends by itself, with an exception
that a program may expect: whoever waits in one is not stuck. That it could have ended in no other
way is told once the timeout has passed (`Watcher.hindsight`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from distlab.matching import Ledger, awaited, waiting
from distlab.records import DONE, FAILED, POSTED, RAISED, ROOTED, RUNNING, RankRecord
from distlab.remarks import Remark, remarks
from distlab.verdicts import Deadlock, Explanation, Wait, conflict_verdict
from distlab.waitgraph import wait_for_svg

__all__ = ["Deadlock", "Remark", "Wait", "Watcher", "remarks", "wait_for_svg"]

#: Seconds that a stand-still must last before it is believed where the proof leans on a convention:
#: MPI's rule that a broadcast's root may wait for the receivers, or that `backward` sends nothing.
PATIENCE = 0.5


class Watcher:
    """Looks at the records of one run again and again, and says when it can't end.

    Call it with the records of all ranks, in order, and the set of ranks whose process has died. It
    returns a `Deadlock` or None, and costs time in what is new since the last look alone.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._ledger: Ledger | None = None
        self._since: dict[int, tuple[tuple[int, int], float]] = {}
        self._doubts = 0

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
        for rank, at in held.items():
            mark = (at, len(records[rank].events))
            same = rank in known and known[rank][0] == mark
            self._since[rank] = known[rank] if same else (mark, now)
        for strict, among, patience in ((False, blocked, 0.0), (True, held, PATIENCE)):
            still = {
                rank for rank, since in self._since.items()
                if known.get(rank) == since and now - since[1] >= patience
            }  # fmt: skip
            stuck = stuck_ranks(ledger, without_end(ledger, among), dead, strict)
            if stuck and stuck.keys() <= still:
                return Explanation(ledger, stuck, dead).verdict()
        return None

    def conflict(self, records: Sequence[RankRecord]) -> Deadlock | None:
        """Two operations that don't fit together, in a run in which nothing happens any more.

        gloo answers them by a crash, by an error on one side or by silence, as it comes; what the
        records say of them is always the same.
        """
        ledger = Ledger(len(records))
        ledger.update(records)
        return conflict_verdict(ledger, ledger.conflicts[0]) if ledger.conflicts else None

    def hindsight(self, records: Sequence[RankRecord]) -> Deadlock | None:
        """Why ranks whose own timeouts have ended the run could not have gone on otherwise.

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
        """A conflict that is certain, or that stood there at the last look already."""
        conflicts, doubts = ledger.conflicts, self._doubts
        self._doubts = len(conflicts)
        for number, conflict in enumerate(conflicts):
            posted = all(e.state == DONE or e.wait_begin for e in map(ledger.event, conflict.pair))
            if posted or number < doubts:
                return conflict_verdict(ledger, conflict)
        return None


def _before_it_failed(record: RankRecord) -> RankRecord:
    """A record as it was while the rank still waited in the operation that then ended it."""
    last = record.events[-1] if record.events else None
    if record.progress != RAISED or last is None or last.state != FAILED or not last.wait_begin:
        return record
    waits = replace(last, state=POSTED, end=0.0, wait_end=0.0)
    return replace(record, progress=RUNNING, end=0.0, events=[*record.events[:-1], waits])


def blocked_ranks(ledger: Ledger, dead: set[int]) -> tuple[dict[int, int], dict[int, int]]:
    """The ranks that sit in an operation, each with its position in the rank's record.

    Returns those that are seen to wait, and these together with those in a `backward` that can't
    return before an operation ends.
    """
    blocked, held = {}, {}
    for rank, record in enumerate(ledger.records):
        if rank in dead or record.over or rank in ledger.blind:
            continue
        at = waiting(ledger, rank)
        if at is not None:
            blocked[rank] = held[rank] = at
        elif (at := awaited(ledger, rank)) is not None:
            held[rank] = at
    return blocked, held


def without_end(ledger: Ledger, blocked: dict[int, int]) -> dict[int, int]:
    """Those of `blocked` that no timeout of their own releases while the run lasts."""
    return {rank: at for rank, at in blocked.items() if not ledger.event((rank, at)).until}


def stuck_ranks(
    ledger: Ledger, blocked: dict[int, int], dead: set[int], strict: bool
) -> dict[int, int]:
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
        released = [rank for rank, at in stuck.items() if can_end(ledger, rank, at, free, strict)]
        free.update(released)
        for rank in released:
            del stuck[rank]
    return stuck


def can_end(ledger: Ledger, rank: int, at: int, free: set[int], strict: bool) -> bool:
    """Can this operation end, if the ranks in `free` may post anything?"""
    event = ledger.event((rank, at))
    if event.is_message:
        if any(other in free for other in ledger.partners(event)):
            return True
        met = ledger.send_met if event.op == "send" else ledger.receive_met
        return met(rank, at)
    absent = set(ledger.absentees(rank, at)) - free
    root = event.peer
    if not absent or strict or event.op not in ROOTED or root is None:
        return not absent
    if root != rank:
        return root not in absent
    if event.op in ("gather", "reduce"):
        return False
    return len(absent) < len(event.group) - 1
