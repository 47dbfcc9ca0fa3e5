"""What a run that ended got away with: requests nobody waited for, messages nobody took."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from distlab.records.dtypes import other_dtype
from distlab.records.events import CHANGED, INDIRECT, POSTED, Event, RankRecord
from distlab.records.explain import conflict_verdict
from distlab.records.matching import Ledger, refused_by_torch
from distlab.records.phrases import listed, named, of_group, ranks_text

_Thread = tuple[int, int]  # a rank, and the number of its thread


@dataclass(frozen=True)
class Remark:
    """Something that deserves a word though the run ended.

    Attributes:
        kind: "not-waited", "changed" (a buffer before its wait, on an unknown line; of operations
            other than sends in strict mode only), "race" (a buffer that was touched before its
            wait, in strict mode), "unreceived", "unsent" (a receive that got nothing), "crossing"
            (blocking sends that only buffers let through), "uneven" (the ranks called a group's
            collectives unequally often), "new_group", or a kind of `Deadlock` for operations that
            don't fit together.
    """

    kind: str
    sentence: str
    ranks: tuple[int, ...]
    events: tuple[Event, ...] = field(repr=False)

    def __str__(self) -> str:
        return self.sentence


def remarks(records: Sequence[RankRecord]) -> list[Remark]:
    """Remarks on a run that has ended, at most one for each kind and line.

    A run whose records are incomplete (one rank wrote more than fits) gets only those remarks that
    need one rank's record.
    """
    ledger = Ledger(len(records))
    ledger.update(records)
    found = [*_requests(records)]
    if not ledger.blind:
        found += [*_conflicts(ledger), *_messages(ledger), *_crossings(ledger)]
        found += [*_types(ledger), *_collectives(ledger), *_new_groups(ledger)]
    return found


def _per_line(events: Sequence[Event]) -> Iterator[list[Event]]:
    by_line: dict[tuple[int, str, str, str], list[Event]] = defaultdict(list)
    for event in events:
        by_line[event.rank, event.op, event.file, event.place].append(event)
    yield from by_line.values()


def _times(events: list[Event]) -> str:
    return f" ({len(events)} times)" if len(events) > 1 else ""


def _requests(records: Sequence[RankRecord]) -> Iterator[Remark]:
    every = [event for record in records for event in record.events]
    going_on = {r.rank for r in records if r.ended and not r.over}  # their threads may still wait
    left = [
        e for e in every
        if e.state == POSTED and e.op != "new_group" and e.rank not in going_on
        and not (e.waited or e.blocking or e.internal or e.flags & INDIRECT)
    ]  # fmt: skip
    changed = [e for e in every if e.flags & CHANGED and not e.race]
    for same in _per_line([e for e in every if e.race]):
        first = same[0]
        assert first.race is not None  # that is what these have in common
        how, where = first.race
        text = (
            f"the buffer of rank {first.rank}'s {named(first)} at {first.place} was {how} at "
            f"{where}, before it was waited for{_times(same)}."
        )
        yield Remark("race", text, (first.rank,), tuple(same))
    for kind, events, what in (
        ("not-waited", left, "was never waited for: its buffer may be used too early"),
        (
            "changed",
            changed,
            "had its buffer changed before it was waited for: what comes of it is luck",
        ),
    ):
        for same in _per_line(events):
            first = same[0]
            text = f"rank {first.rank}'s {named(first)} at {first.place} {what}{_times(same)}."
            yield Remark(kind, text, (first.rank,), tuple(same))


def _conflicts(ledger: Ledger) -> Iterator[Remark]:
    seen = set()
    for conflict in ledger.conflicts:
        verdict = conflict_verdict(ledger, conflict)
        if verdict.message not in seen:
            seen.add(verdict.message)
            events = tuple(map(ledger.event, conflict.pair))
            yield Remark(conflict.kind, verdict.message, verdict.ranks, events)


def _messages(ledger: Ledger) -> Iterator[Remark]:
    for same in _per_line([e for e in ledger.unmatched() if not refused_by_torch(e)]):
        first = same[0]
        kind, what = "unreceived", "was never received"
        if first.op == "recv":
            kind, what = "unsent", "was never sent a message"
        text = f"rank {first.rank}'s {named(first)} at {first.place} {what}{_times(same)}."
        yield Remark(kind, text, (first.rank,), tuple(same))


def _types(ledger: Ledger) -> Iterator[Remark]:
    seen = set()
    for send, receive in ledger.pairs():
        where = (send.rank, send.place, receive.rank, receive.place)
        if send.dtype != receive.dtype and where not in seen:
            seen.add(where)
            text = f"{other_dtype(send, receive)}."
            yield Remark("mismatch", text, (send.rank, receive.rank), (send, receive))


def _crossings(ledger: Ledger) -> Iterator[Remark]:
    """Two ranks that each sent, blocking, before they received what the other had sent."""
    # by rank and thread of both sides: what different threads do does not cross
    between: dict[tuple[_Thread, _Thread], list[tuple[Event, Event]]] = defaultdict(list)
    for send, receive in ledger.pairs():
        if send.blocking:
            sides = (send.rank, send.thread), (receive.rank, receive.thread)
            between[sides].append((send, receive))
    seen = set()
    for (one, two), there in between.items():
        src, dst = one[0], two[0]
        back = sorted(between.get((two, one), ()), key=lambda pair: pair[0].index)
        begun = [send.index for send, _ in back]
        if src > dst or not back:
            continue
        for send, receive in there:
            # the last message that the other side had sent before it received this one
            at = bisect_left(begun, receive.index) - 1
            if at < 0 or back[at][1].index < send.index:
                continue
            other, answer = back[at]
            if send.wait_begin > answer.begin or other.wait_begin > receive.begin:
                continue  # both were begun before the send was waited for, as in a batch
            if (send.place, other.place) not in seen:
                seen.add((send.place, other.place))
                text = (
                    f"rank {src}'s {named(send)} at {send.place} and rank {dst}'s {named(other)} "
                    f"at {other.place} cross: both send before they receive, which only a "
                    "buffer lets through."
                )
                yield Remark("crossing", text, (src, dst), (send, other))


def _collectives(ledger: Ledger) -> Iterator[Remark]:
    for group, calls in ledger.calls().items():
        counts = {member: len(calls.get(member, ())) for member in group[0]}
        most, least = max(counts.values()), min(counts.values())
        beyond = (call for row in calls.values() for call in row[least:])
        if all(call.gave_up for call in beyond):  # by their timeouts their ranks know of it
            continue
        by_count: dict[int, list[int]] = defaultdict(list)
        for member, count in counts.items():
            by_count[count].append(member)
        parts = [f"{count} on {ranks_text(by_count[count])}" for count in sorted(by_count)]
        extra = calls[by_count[most][0]][least]
        text = (
            f"the ranks called unequally many collectives {of_group(ledger, group)}: "
            f"{listed(parts)}; the first without a partner is {named(extra)} at {extra.place}."
        )
        yield Remark("uneven", text, tuple(group[0]), (extra,))


def _new_groups(ledger: Ledger) -> Iterator[Remark]:
    together = {made for order in ledger.orders() for made, _ in order}
    for group, callers in ledger.creations().items():
        missing = [rank for rank in range(ledger.size) if rank not in callers]
        if missing and group in together:
            first = ledger.creation(group, callers[0])
            text = (
                f"{ranks_text(callers)} called new_group({list(group[0])}) at {first.place}, but "
                f"{ranks_text(missing)} did not: every rank of the job has to, "
                "members or not (unless it is made with "
                "use_local_synchronization=True)."
            )
            yield Remark("new_group", text, tuple(missing), ())
    yield from _group_orders(ledger)


def _group_orders(ledger: Ledger) -> Iterator[Remark]:
    """Ranks that make the same groups in different orders, which harms members alone."""
    first = ledger.orders()[0]
    for rank, order in enumerate(ledger.orders()):
        if {group for group, _ in order} != {group for group, _ in first}:
            continue
        for (one, at), (other, there) in zip(first, order, strict=True):
            if one != other:
                events = ledger.event((0, at)), ledger.event((rank, there))
                text = (
                    f"rank 0's {named(events[0])} at {events[0].place} and rank {rank}'s "
                    f"{named(events[1])} at {events[1].place} come at the same place in the order "
                    "of groups: every rank has to make them in the same order."
                )
                yield Remark("new_group", text, (0, rank), events)
                return
