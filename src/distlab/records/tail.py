"""The last operations of a run that goes on, matched, for the live picture of it.

Matching counts from the beginning of a run, so operations that have left the tail still count. The
time of a look depends on the tail and on what is new, not on how long the run is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from distlab.records.events import Event, RankRecord
from distlab.records.matching import Group, Ledger, posts, refused_by_torch
from distlab.records.pairing import Collective, Pairs, either, note_conflicts

#: what is matched in order: a member's calls in a group, or a channel's sends or receives
_Row = tuple[str, Group, int, int, int]


class Tail:
    """Looks at the records of one run again and again.

    Args:
        size: ranks.
        most: operations of a rank that a look returns; more while the oldest has not ended.
    """

    def __init__(self, size: int, most: int) -> None:
        self._most = most
        self._first = [0] * size
        self._gone: dict[_Row, int] = defaultdict(int)

    def look(
        self, records: Sequence[RankRecord], ledger: Ledger
    ) -> tuple[list[RankRecord], Pairs, float]:
        """The tails of all records, their operations matched, and the time at which they begin.

        Args:
            ledger: that has taken in these records.
        """
        for record in records:
            self._shorten(record, ledger)
        begin = min((r.begin for r in records if r.begin), default=0.0)
        cut = [r.events[at].begin for r, at in zip(records, self._first, strict=True) if at]
        begin = max([begin, *cut])
        tails = [
            replace(record, events=record.events[at:], begin=began and max(began, begin))
            for record, at in zip(records, self._first, strict=True)
            for began in [record.begin]
        ]  # fmt: skip
        return tails, self._pairs(tails, ledger), begin

    def _shorten(self, record: RankRecord, ledger: Ledger) -> None:
        at = self._first[record.rank]
        while (more := len(record.events) - at - self._most) > 0:
            event = record.events[at]
            if not event.done and more < 4 * self._most:
                break
            if row := _row(event, ledger):
                self._gone[row] += 1
            at += 1
        self._first[record.rank] = at

    def _pairs(self, tails: Sequence[RankRecord], ledger: Ledger) -> Pairs:
        count = dict(self._gone)
        sides: dict[tuple[Group, int, int, int, int], dict[str, Event]] = defaultdict(dict)
        calls: dict[tuple[Group, int], Collective] = {}
        refused: list[Event] = []
        for tail in tails:
            for event in tail.events:
                if refused_by_torch(event):
                    refused.append(event)
                if (row := _row(event, ledger)) is None:
                    continue
                place = count[row] = count.get(row, 0) + 1
                kind, group, src, dst, tag = row
                if kind == "call":
                    call = calls.setdefault((group, place - 1), Collective(group[0]))
                    call.calls[event.rank] = event
                else:
                    sides[group, src, dst, tag, place][kind] = event
        conflicts = note_conflicts(ledger, calls)
        here = {(event.rank, event.index) for tail in tails for event in tail.events}
        conflicts = {key: text for key, text in conflicts.items() if key in here}
        messages = [
            (both.get("send"), both.get("recv"))
            for channel, both in sides.items()
            if len(both) == 2 or not self._left(channel, "recv" if "send" in both else "send")
        ]
        whole = [
            call for (group, place), call in calls.items()
            if not any(place < self._gone.get(("call", group, rank, 0, 0), 0)
                       for rank in call.missing)
        ]  # fmt: skip
        messages.sort(key=lambda both: either(*both).begin)
        return Pairs(messages, sorted(whole, key=lambda call: call.begin), refused, conflicts)

    def _left(self, channel: tuple[Group, int, int, int, int], kind: str) -> bool:
        """Has this side of a message left the tail?"""
        group, src, dst, tag, place = channel
        return place <= self._gone.get((kind, group, src, dst, tag), 0)


def _row(event: Event, ledger: Ledger) -> _Row | None:
    """The row in which an operation is matched; None for one that meets nothing."""
    group = ledger.group_of(event)
    if group is None or not posts(event):
        return None
    if event.is_collective:
        return "call", group, event.rank, 0, 0
    if event.op not in ("send", "recv") or event.peer is None:
        return None
    sent = event.op == "send"
    src, dst = (event.rank, event.peer) if sent else (event.peer, event.rank)
    return event.op, group, src, dst, event.tag
