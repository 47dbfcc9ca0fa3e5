"""What happened before what in a run, and which of its choices could have gone otherwise.

A receive from anybody took one message. Another could have arrived in its place if its sender did
not need this receive to have ended: if its send does not *come after* the receive (Lamport, 1978;
Vo and others, "A Scalable and Distributed Dynamic Formal Verifier for MPI Programs", 2010). What
comes after what follows from the order of calls on each rank, from messages, from collectives and
from the store. A set of choices is kept as the bits of an integer.

Collectives count only for the order that their data enforces: a broadcast's receivers come after
its root. What a back end enforces beyond that shows when a schedule cannot be run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from distlab.records.choices import POLL, SOURCE, Key
from distlab.records.events import ANY_SOURCE, BUFFERED, POSTED, ROOTED, Event, RankRecord
from distlab.records.matching import Group, Ledger, posts

MOST_EVENTS = 20_000  # of a run; longer ones are not looked into
MOST_CHOICES = 500  # nor are runs of more: schedules take memory by the square of their number
MOST_ROUNDS = 50  # over all moments, to find what comes before what: one if all clocks agree
TOO_MUCH = "the ranks did more than can be kept in mind"
MOST_POLLS = 2  # calls of `is_completed` on one request at which it is made to answer True

#: for each rank (time, kind, key): what it did with the store
Causes = Sequence[Iterable[tuple[float, str, str]]]
#: messages by group, sender, receiver and tag
_Rows = dict[tuple[Group | None, int, int | None, int], list[Event]]
_Box = tuple[Group | None, int | None, int]  # group, receiver, tag


@dataclass
class Choice:
    """A choice of a run: the value it had, and those it could have had.

    `alternatives`: other values; True for those that need sends to be buffered. `after`: choices
    whose place in the run depends on this one.
    """

    key: Key
    event: Event
    value: int
    alternatives: dict[int, bool] = field(default_factory=dict)
    after: set[Key] = field(default_factory=set)


@dataclass(order=True)
class _Moment:
    time: float
    number: int  # keeps the order of what has the same time
    rank: int = field(compare=False)
    before: int = field(compare=False, default=0)  # choices that come before it
    sources: list[_Moment] = field(compare=False, default_factory=list)  # moments before it
    takes: int = field(compare=False, default=0)  # choices that are made at it


class _Contradiction(Exception):
    """The times of the ranks are not those of one run: a rank can have written what it likes."""


class _History:
    """The moments of a run with what comes before each.

    Raises:
        _Contradiction: so many messages are noted as received before they were sent that it takes
            too long to find what comes before what.

    Args:
        buffered: sends end when they have begun, not when they are received.
        dependent: count what a choice takes away from a later one of the same rank as coming
            before that.
    """

    def __init__(
        self,
        ledger: Ledger,
        causes: Causes,
        bits: dict[tuple[int, str], int],
        buffered: bool,
        dependent: bool,
    ) -> None:
        self._ledger, self._bits, self._number = ledger, bits, 0
        self.begins: dict[int, _Moment] = {}
        self._ends: dict[int, _Moment] = {}
        self._moments: list[_Moment] = []
        for record in ledger.records:
            for event in record.events:
                self._add_event(event)
        self._messages(buffered, dependent)
        self._collectives()
        self._store(causes)
        self._settle()

    def _moment(self, time: float, rank: int) -> _Moment:
        self._number += 1
        made = _Moment(time, self._number, rank)
        self._moments.append(made)
        return made

    def _add_event(self, event: Event) -> None:
        if not posts(event):
            return
        self.begins[id(event)] = self._moment(event.begin, event.rank)
        if event.polled and (bit := self._bits.get((id(event), POLL))):
            self._moment(event.polled, event.rank).takes = bit
        if event.done and (end := event.wait_end or event.end):
            self._ends[id(event)] = self._moment(end, event.rank)

    def _messages(self, buffered: bool, dependent: bool) -> None:
        boxes: dict[_Box, int] = defaultdict(int)
        for record in self._ledger.records if dependent else ():
            for event in record.events:
                if event.op == "recv" and id(event) in self.begins:
                    box = self._ledger.group_of(event), event.rank, event.tag
                    bit = self._bits.get((id(event), SOURCE), 0)
                    # earlier receives from anybody decide what is left for this one
                    moment = self.begins if bit else self._ends
                    if found := moment.get(id(event)):
                        found.takes |= boxes[box]
                    boxes[box] |= bit
        for send, receive in channels(self._ledger):
            sent, received = self._ends.get(id(send)), self._ends.get(id(receive))
            bit = self._bits.get((id(receive), SOURCE), 0)
            if received is not None:
                received.sources.append(self.begins[id(send)])
                received.takes |= bit
            if sent is not None and not buffered:
                sent.sources.append(self.begins[id(receive)])
                sent.takes |= bit

    def _collectives(self) -> None:
        calls: dict[tuple[Group, int], list[Event]] = defaultdict(list)
        for record in self._ledger.records:
            for at, event in enumerate(record.events):
                if id(event) not in self.begins or event.is_message:
                    continue
                place = self._ledger.place(record.rank, at)
                if event.op == "new_group":
                    calls[((event.group, 0), -place)].append(event)
                elif (group := self._ledger.group_of(event)) is not None:
                    calls[(group, place)].append(event)
        for members in calls.values():
            for event in members:
                end = self._ends.get(id(event))
                if end is not None:
                    end.sources += [self.begins[id(e)] for e in members if _feeds(e, event)]

    def _store(self, causes: Causes) -> None:
        """Whoever looks at a key comes after all who have written it. Writers are chained in
        moments that belong to no rank, one for each writer: a list of all writers for each look
        would take memory by the square of what a rank notes.
        """
        nobody = self._ledger.size
        written: dict[str, _Moment] = {}
        for time, rank, kind, key in sorted(
            (time, rank, kind, key) for rank, some in enumerate(causes) for time, kind, key in some
        ):
            moment = self._moment(time, rank)
            before = [written[key]] if key in written else []
            if kind != "set":
                moment.sources += before
            if kind in ("set", "changed"):
                written[key] = self._moment(time, nobody)
                written[key].sources += [*before, moment]

    def _settle(self) -> None:
        """Carry choices forward until nothing changes: once, where all clocks agree."""
        self._moments.sort()
        for _ in range(MOST_ROUNDS):
            if not self._carried():
                return
        raise _Contradiction

    def _carried(self) -> bool:
        """Carry choices forward once; has anything changed?"""
        nobody, changed = self._ledger.size, False
        last = [0] * nobody
        for moment in self._moments:
            before = moment.takes | (last[moment.rank] if moment.rank != nobody else 0)
            for source in moment.sources:
                before |= source.before
            changed |= before != moment.before
            moment.before = before
            if moment.rank != nobody:
                last[moment.rank] = before
        return changed


def _feeds(one: Event, other: Event) -> bool:
    """Does the second call of a collective need data of the first?"""
    if one.op in ROOTED and one.peer is not None:
        return other.rank == one.peer if one.op in ("reduce", "gather") else one.rank == one.peer
    return True


def channels(ledger: Ledger) -> Iterable[tuple[Event, Event]]:
    """Each message that was received, by its two events, where the receive's source is known."""
    sends, receives = _rows(ledger)
    for key, row in sends.items():
        yield from zip(row, receives.get(key, ()), strict=False)


def _rows(ledger: Ledger) -> tuple[_Rows, _Rows]:
    """Sends and receives."""
    sends: _Rows = defaultdict(list)
    receives: _Rows = defaultdict(list)
    for record in ledger.records:
        for event in record.events:
            if not event.is_message or not posts(event):
                continue
            group = ledger.group_of(event)
            if event.op == "send":
                sends[group, event.rank, event.peer, event.tag].append(event)
            elif event.peer is not None:
                receives[group, event.peer, event.rank, event.tag].append(event)
    return sends, receives


def has_choices(records: Sequence[RankRecord]) -> bool:
    """Could this run have gone otherwise, at first sight?"""
    return any(
        e.polled or (e.flags & ANY_SOURCE and len(e.group) > 2)
        for record in records
        for e in record.events
    )


def choices(records: Sequence[RankRecord], causes: Causes = ()) -> list[Choice] | str:
    """The choices of a run with their alternatives, in the order in which they were made; where
    these cannot be known, a sentence that says why.
    """
    ledger = Ledger(len(records))
    ledger.update(records)
    if taken := _taken(ledger):
        records = [
            replace(record, events=[taken.get(id(event), event) for event in record.events])
            for record in records
        ]
        ledger = Ledger(len(records))
        ledger.update(records)
    if ledger.blind or sum(len(record.events) for record in records) > MOST_EVENTS:
        return TOO_MUCH
    found = _found(records)
    if len(found) > MOST_CHOICES:
        return TOO_MUCH
    if any(c.key.kind == SOURCE and c.event.thread for c in found):
        return "several threads of a rank receive from anybody, in an order that is theirs"
    bits = {(id(c.event), c.key.kind): 1 << n for n, c in enumerate(found)}
    try:
        histories = [
            _History(ledger, causes, bits, buffered, dependent)
            for buffered, dependent in ((False, False), (True, False), (True, True))
        ]
    except _Contradiction:
        return "the times of the ranks contradict each other"
    sends, receives = _rows(ledger)
    for number, choice in enumerate(found):
        if choice.key.kind == POLL:
            choice.alternatives = _poll_alternatives(choice)
        else:
            choice.alternatives = _sources(choice, 1 << number, ledger, sends, receives, histories)
        choice.after = _after(choice, 1 << number, found, histories[2])
    return found


def _taken(ledger: Ledger) -> dict[int, Event]:
    """Receives from anybody that were never waited for, with the source of the message that they
    must have taken: one whose send has ended and that no other receive took.
    """
    sends, receives = _rows(ledger)
    left: dict[_Box, list[int]] = defaultdict(list)
    for (group, source, rank, tag), row in sends.items():
        ended = sum(send.done and not send.flags & BUFFERED for send in row)
        named = receives.get((group, source, rank, tag), ())
        surplus = ended - sum(not _still_waits(receive) for receive in named)
        left[group, rank, tag] += [source] * max(surplus, 0)
    taken = {}
    for record in ledger.records:
        for event in record.events:
            open_ = event.flags & ANY_SOURCE and event.peer is None and event.state == POSTED
            box = left[ledger.group_of(event), event.rank, event.tag] if open_ else None
            if box:
                taken[id(event)] = replace(event, peer=box.pop(0))
    return taken


def _still_waits(receive: Event) -> bool:
    """Was it waited for until the run was ended? Then it has taken nothing."""
    return receive.state == POSTED and receive.wait_begin > 0


def _found(records: Sequence[RankRecord]) -> list[Choice]:
    found = []
    for record in records:
        posted = [e for e in record.events if posts(e)]
        sources = [e for e in posted if e.flags & ANY_SOURCE]
        polled = sorted((e for e in posted if e.polled), key=lambda e: e.polled)
        for number, event in enumerate(sources):
            if event.peer is not None:
                found.append(Choice(Key(record.rank, SOURCE, number), event, event.peer))
        for number, event in enumerate(polled):
            found.append(Choice(Key(record.rank, POLL, number), event, event.seen))
    return sorted(found, key=lambda c: c.event.polled or c.event.begin)


def _sources(
    choice: Choice,
    bit: int,
    ledger: Ledger,
    sends: _Rows,
    receives: _Rows,
    histories: Sequence[_History],
) -> dict[int, bool]:
    event, group = choice.event, ledger.group_of(choice.event)
    alternatives = {}
    for source in group[0] if group else ():
        if source in (event.rank, choice.value):
            continue
        key = group, source, event.rank, event.tag
        taken = sum(other.index < event.index for other in receives.get(key, ()))
        if taken < len(sends.get(key, ())):
            begun = id(sends[key][taken])
            unbuffered, buffered, _ = (history.begins[begun].before & bit for history in histories)
            if not buffered:
                alternatives[source] = bool(unbuffered)
    return alternatives


def _poll_alternatives(choice: Choice) -> dict[int, bool]:
    """Other calls of `is_completed` that could be the first to answer True."""
    polls, seen = choice.event.polls, choice.event.seen
    earlier = range(1, min(polls, MOST_POLLS) + 1)
    later = [seen + 1] if 0 < seen <= MOST_POLLS else []
    return dict.fromkeys([*earlier, *later], False)


def _after(choice: Choice, bit: int, found: list[Choice], history: _History) -> set[Key]:
    after = set()
    for other in found:
        event = other.event
        if other is choice:
            continue
        if other.key.kind == SOURCE:
            depends = history.begins[id(event)].before & bit
        else:
            depends = event.rank == choice.event.rank and event.polled >= (
                choice.event.polled or choice.event.begin
            )
            depends = depends or history.begins[id(event)].before & bit
        if depends:
            after.add(other.key)
    return after
