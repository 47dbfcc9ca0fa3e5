"""Which send belongs to which receive, and which calls are one collective, in a run that is over.

Matching itself is `distlab.records.matching`'s, which proves deadlocks while a run goes on; here
its rows are read once, as pairs to draw. A run's records are those of all ranks, in the order of
ranks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from distlab.records.events import AGAIN, Event, RankRecord
from distlab.records.matching import Group, Ledger, refused_by_torch

#: a send and its receive, with None for the one that is missing
Message = tuple[Event | None, Event | None]
#: group, src, dst, tag
_Channel = tuple[Group | None, int, int | None, int]


@dataclass
class Collective:
    """One collective: the call of each member that made it."""

    members: tuple[int, ...]
    calls: dict[int, Event] = field(default_factory=dict)
    conflict: str = ""  # how two of its calls differ: "barrier and all_reduce"

    @property
    def missing(self) -> list[int]:
        """Members that never called it."""
        return [rank for rank in self.members if rank not in self.calls]

    @property
    def done(self) -> bool:
        return not self.missing and not self.conflict and all(e.done for e in self.calls.values())

    @property
    def first(self) -> Event:
        """The call that began first."""
        return min(self.calls.values(), key=lambda e: e.begin)

    @property
    def begin(self) -> float:
        return self.first.begin


@dataclass
class Pairs:
    """All operations of a run, matched.

    `conflicts`: how a message and its receive don't fit, by (rank, index) of the send.
    """

    messages: list[Message]
    collectives: list[Collective]
    refused: list[Event]  # calls that raised before anything was posted
    conflicts: dict[tuple[int, int], str]


def pair(records: Sequence[RankRecord]) -> Pairs:
    """Match the operations of a run. Messages come in the order in which they began."""
    ledger = Ledger(len(records))
    ledger.update(records)
    sends: dict[_Channel, list[Event]] = defaultdict(list)
    receives: dict[_Channel, list[Event]] = defaultdict(list)
    calls: dict[tuple[Group, int], Collective] = {}
    refused, lone = [], []
    for record in records:
        for at, event in enumerate(record.events):
            group = ledger.group_of(event)
            if event.flags & AGAIN:
                continue
            if refused_by_torch(event):
                refused.append(event)
            elif event.is_collective and group is not None:
                place = ledger.place(record.rank, at)
                call = calls.setdefault((group, place), Collective(group[0]))
                call.calls[record.rank] = event
            elif event.op == "send":
                sends[group, record.rank, event.peer, event.tag].append(event)
            elif event.op == "recv" and event.peer is not None:
                receives[group, event.peer, record.rank, event.tag].append(event)
            elif event.op == "recv":
                lone.append(event)  # from any source, and nothing came
    conflicts = note_conflicts(ledger, calls)
    messages: list[Message] = [*_joined(sends, receives), *((None, event) for event in lone)]
    messages.sort(key=lambda both: either(*both).begin)
    return Pairs(messages, sorted(calls.values(), key=lambda c: c.begin), refused, conflicts)


def either(send: Event | None, receive: Event | None) -> Event:
    """The send of a message, or its receive where there is no send."""
    one = send or receive
    assert one is not None  # a message has one of them at least
    return one


def match_messages(records: Sequence[RankRecord]) -> list[tuple[Event, Event | None]]:
    """Every send of a run with the receive that took it, None where there is none."""
    return [(send, receive) for send, receive in pair(records).messages if send is not None]


def _joined(
    sends: dict[_Channel, list[Event]], receives: dict[_Channel, list[Event]]
) -> list[Message]:
    joined: list[Message] = []
    for key in {**sends, **receives}:
        sent, received = sends.get(key, []), receives.get(key, [])
        for place in range(max(len(sent), len(received))):
            joined.append(
                (
                    sent[place] if place < len(sent) else None,
                    received[place] if place < len(received) else None,
                )
            )
    return joined


def note_conflicts(
    ledger: Ledger, calls: dict[tuple[Group, int], Collective]
) -> dict[tuple[int, int], str]:
    """Write conflicts between calls into their collective; return those of messages."""
    found = {}
    for conflict in ledger.conflicts:
        if conflict.kind == "new_group":
            continue
        call = calls.get((conflict.group, conflict.place))
        first = ledger.event(conflict.pair[0])
        if first.is_message:
            found[first.rank, first.index] = conflict.text
        elif call is not None and not call.conflict:
            call.conflict = conflict.text
    return found
