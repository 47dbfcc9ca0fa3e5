"""Match the operations of all ranks with each other, as the records grow.

Messages match in order for each (group, sender, receiver, tag); a receive from any source may take
the first message of any sender. Collectives match by the order in which each member calls them in a
group. A group is known by its members and its number among the new groups with these members (0 is
the default group), because the index in a record is a rank's own. These are MPI's rules (MPI 4.1,
3.5 and 6.12), which torch.distributed shares.

Horovod matches by name instead: a collective with a tag (the checksum of its name) meets only those
with the same tag, and each name counts as a group of its own.

Counting can't tell which sender a pending any-source receive took. Where that matters the answers
here lean towards "met", so that a proof that something can't happen is never wrong.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from distlab.records.any_source import Sender, Shares
from distlab.records.differences import call_difference, message_sizes, too_much_for
from distlab.records.events import (
    AGAIN,
    ANY_SOURCE,
    CALLBACK,
    DONE,
    FAILED,
    FUTURE,
    LOCAL,
    MADE_TRUE,
    NO_GROUP,
    POSTED,
    WORLD,
    Event,
    RankRecord,
)

#: its members, and its number among the groups of these members (minus the tag for a Horovod name)
Group = tuple[tuple[int, ...], int]
Channel = tuple[Group, int, int, int]  # group, src, dst, tag
Box = tuple[Group, int, int]  # group, dst, tag
NOBODY: Group = ((), 0)

#: functions that run autograd, and with it DDP's hooks
BACKWARD = {"backward", "grad"}


@dataclass(frozen=True)
class Conflict:
    """Two operations that match by their order but don't fit together."""

    kind: str
    text: str
    group: Group
    place: int  # in its channel or among the group's collectives, from 0
    pair: list[tuple[int, int]]  # (rank, position) of both


class Ledger:
    """Every operation of a run, filed under what it can match.

    Events are known here by (rank, position in `records[rank].events`); places within a channel or
    within the collectives of a group are counted from 0.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._clear()

    def _clear(self) -> None:
        self.records: Sequence[RankRecord] = ()
        self.blind: set[int] = set()  # ranks whose records are incomplete or scribbled
        self.conflicts: list[Conflict] = []
        self._seen = [0] * self.size
        self._open: list[list[int]] = [[] for _ in range(self.size)]
        self._place: list[list[int]] = [[] for _ in range(self.size)]
        self._groups: list[dict[int, Group]] = [
            {WORLD: (tuple(range(self.size)), 0)} for _ in range(self.size)
        ]
        self._made: list[dict[tuple[int, ...], int]] = [{} for _ in range(self.size)]
        self._sends: dict[Channel, list[int]] = defaultdict(list)
        self._receives: dict[Channel, list[int]] = defaultdict(list)  # whose source was named
        self._from_any: dict[Box, list[int]] = defaultdict(list)
        self._calls: dict[tuple[Group, int], list[int]] = defaultdict(list)  # (group, rank)
        self._first: dict[Group, list[tuple[int, int]]] = defaultdict(list)  # who called it first
        self._exchanges: dict[tuple[Group, int], list[tuple[int, int]]] = defaultdict(list)
        self._creations: dict[tuple[Group, int], int] = {}  # (group, rank) → position
        self._shared: dict[Box, Shares] = {}  # as they are since the last look
        # calls of new_group so far, without those that members make alone
        self._counted = [0] * self.size
        # the first member to make each group: rank, position, number of the call
        self._made_as: dict[Group, tuple[int, int, int]] = {}
        # by number of the call, the first member that made a group by it
        self._made_by: dict[int, tuple[int, int]] = {}
        self._orders: list[list[tuple[Group, int]]] = [[] for _ in range(self.size)]

    def update(self, records: Sequence[RankRecord]) -> None:
        """Take in what is new since the last look at the same run."""
        if any(len(r.events) < seen for r, seen in zip(records, self._seen, strict=True)):
            self._clear()  # another run
        self.records = records
        self._shared.clear()
        refused = False
        for rank, record in enumerate(records):
            events, still = record.events, []
            for at in self._open[rank]:
                if events[at].state == POSTED or gave_up(events[at]):
                    still.append(at)
                elif refused_by_torch(events[at]):
                    refused = True
            self._open[rank] = still
            if record.dropped:
                self.blind.add(rank)
            for at in range(self._seen[rank], len(events)):
                self._add(rank, at, events[at])
            self._seen[rank] = len(events)
        if refused:  # it was filed as posted, but torch did not take it: file everything again
            self._clear()
            self.update(records)

    def _add(self, rank: int, at: int, event: Event) -> None:
        place = -1
        if event.state == POSTED or gave_up(event):
            self._open[rank].append(at)
        if event.flags & AGAIN:
            pass  # its first wait took what there was to take
        elif refused_by_torch(event):
            self._count_group(rank, event)
        elif max(event.group, default=0) >= self.size:
            self.blind.add(rank)
        elif event.op == "new_group":
            place = self._add_group(rank, at, event)
        elif (group := self._possible_group(event)) is None:
            self.blind.add(rank)
        elif event.is_collective:
            row = self._calls[group, rank]
            place = len(row)
            row.append(at)
            self._compare_call(group, place, rank, at)
        else:
            place = self._add_message(group, rank, at, event)
        self._place[rank].append(place)

    def _possible_group(self, event: Event) -> Group | None:
        """The group of an operation; None where that is unknown, or the operation impossible."""
        group = self.group_of(event)
        if group is None or event.rank not in group[0]:
            return None
        return group if event.peer is None or event.peer < self.size else None

    def _add_group(self, rank: int, at: int, event: Event) -> int:
        number = self._made[rank].get(event.group, 0) + 1
        self._made[rank][event.group] = number
        group = (event.group, number)
        self._creations[group, rank] = at
        if event.group_index > WORLD:
            self._groups[rank][event.group_index] = group
        if call := self._count_group(rank, event):
            self._orders[rank].append((group, at))
            if rank in event.group:
                self._compare_creation(group, rank, at, call)
        return number

    def _count_group(self, rank: int, event: Event) -> int:
        """The number by which ranks find each other in a new group; 0 if members make it alone."""
        if event.op != "new_group" or event.flags & LOCAL:
            return 0
        self._counted[rank] += 1
        return self._counted[rank]

    def _compare_creation(self, group: Group, rank: int, at: int, call: int) -> None:
        """Members that make a group by different calls wait for different partners."""
        other, there, number = self._made_as.setdefault(group, (rank, at, call))
        if number != call:
            text = f"call {number} of new_group on rank {other} and call {call} on rank {rank}"
            pair = [(other, there), (rank, at)]
            self.conflicts.append(Conflict("new_group", text, group, 0, pair))
            return
        first = self._made_by.setdefault(call, (rank, at))
        if self.event(first).group != group[0]:  # they meet in each other's place
            text = f"call {call} of new_group on both ranks"
            self.conflicts.append(Conflict("new_group", text, group, 0, [first, (rank, at)]))

    def _add_message(self, group: Group, rank: int, at: int, event: Event) -> int:
        if event.flags & ANY_SOURCE:
            row = self._from_any[group, rank, event.tag]
            row.append(at)
            return len(row) - 1
        if event.peer is None:
            self.blind.add(rank)
            return -1
        sent = event.op == "send"
        src, dst = (rank, event.peer) if sent else (event.peer, rank)
        channel = group, src, dst, event.tag
        row = (self._sends if sent else self._receives)[channel]
        row.append(at)
        self._compare_message(channel, len(row) - 1)
        return len(row) - 1

    def _compare_call(self, group: Group, place: int, rank: int, at: int) -> None:
        first = self._first[group]
        if place == len(first):
            first.append((rank, at))
        else:
            pair = sorted([first[place], (rank, at)])
            if difference := call_difference(*map(self.event, pair)):
                self.conflicts.append(Conflict(*difference, group, place, pair))
                return
        if self.event((rank, at)).exchanged is not None:
            self._compare_exchange(group, place, rank, at)

    def _compare_exchange(self, group: Group, place: int, rank: int, at: int) -> None:
        """In an all-to-all each pair of ranks has a piece of its own."""
        callers = self._exchanges[group, place]
        for other in callers:
            pair = sorted([other, (rank, at)])
            if text := too_much_for(*map(self.event, pair)):
                self.conflicts.append(Conflict("mismatch", text, group, place, pair))
                return
        callers.append((rank, at))

    def _compare_message(self, channel: Channel, place: int) -> None:
        group, src, dst, tag = channel
        if (group, dst, tag) in self._from_any:
            return  # which receive takes which message is not known
        send_row, receive_row = self._sends.get(channel, ()), self._receives.get(channel, ())
        if place >= min(len(send_row), len(receive_row)):
            return
        pair = [(src, send_row[place]), (dst, receive_row[place])]
        send, receive = map(self.event, pair)
        if receive.nbytes < send.nbytes:
            text = message_sizes(send, receive)
            self.conflicts.append(Conflict("message-size", text, group, place, pair))

    def overrun(self, rank: int, at: int) -> Conflict | None:
        """A message that is too large for this receive and that it may have taken. Of a receive
        from any source that is known only once the process has died of it, as gloo's does.
        """
        receive = self.event((rank, at))
        group = self.group_of(receive)
        if group is None or (group, rank, receive.tag) not in self._from_any:
            return None  # `_compare_message` has compared it
        for src in self.partners(receive):
            row = self._sends.get((group, src, rank, receive.tag), ())
            there = next((there for there in row if self.event((src, there)).state != DONE), None)
            if there is not None and self.event((src, there)).nbytes > receive.nbytes:
                text = message_sizes(self.event((src, there)), receive)
                return Conflict("message-size", text, group, 0, [(src, there), (rank, at)])
        return None

    # what the analysis asks

    def event(self, where: tuple[int, int]) -> Event:
        rank, at = where
        return self.records[rank].events[at]

    def group_of(self, event: Event) -> Group | None:
        group = self._groups[event.rank].get(event.group_index)
        if group is None:
            group = self.records[event.rank].given.get(event.group_index)
        if group is not None and event.tag > 0 and event.is_named:
            return group[0], -event.tag
        return group

    def partners(self, event: Event) -> tuple[int, ...]:
        """Who could send to a receive, or receive from a send."""
        if event.peer is not None:
            return (event.peer,)
        members, _ = self.group_of(event) or NOBODY
        return tuple(member for member in members if member != event.rank)

    def absentees(self, rank: int, at: int) -> list[int]:
        """The members of the group that have not called this collective (or `new_group`)."""
        event, place = self.event((rank, at)), self._place[rank][at]
        if event.op == "new_group":
            there = (event.group, place)
            return [m for m in event.group if (there, m) not in self._creations]
        group = self.group_of(event)
        if group is None:
            return []
        return [m for m in group[0] if len(self._calls.get((group, m), ())) <= place]

    def open(self, rank: int) -> Iterable[tuple[int, Event]]:
        """Posted and unfinished operations of a rank with their positions, latest first."""
        events = self.records[rank].events
        there = ((at, events[at]) for at in reversed(self._open[rank]))
        return ((at, event) for at, event in there if event.state == POSTED)

    def place(self, rank: int, at: int) -> int:
        """The place of a call or message in its row, counted from 0."""
        return self._place[rank][at]

    def calls(self) -> dict[Group, dict[int, list[Event]]]:
        """The collectives of each group, by the rank that called them."""
        called: dict[Group, dict[int, list[Event]]] = defaultdict(dict)
        for (group, rank), row in self._calls.items():
            called[group][rank] = [self.event((rank, at)) for at in row]
        return called

    def creations(self) -> dict[Group, list[int]]:
        """For each group made by `new_group` the ranks that called it."""
        made: dict[Group, list[int]] = defaultdict(list)
        for group, rank in sorted(self._creations):
            made[group].append(rank)
        return made

    def creation(self, group: Group, rank: int) -> Event:
        """The call of `new_group` by which a rank made a group."""
        return self.event((rank, self._creations[group, rank]))

    def orders(self) -> list[list[tuple[Group, int]]]:
        """For each rank the groups that it made together with all others: (group, position)."""
        return self._orders

    def send_met(self, rank: int, at: int) -> bool:
        """Is there a posted receive that can take this message?"""
        event = self.records[rank].events[at]
        group, place = self.group_of(event), self._place[rank][at]
        if group is None or event.peer is None:
            return True
        box = (group, event.peer, event.tag)
        room = len(self._receives.get((group, rank, event.peer, event.tag), ()))
        if box in self._from_any:
            shares = self._shares(box)
            room += shares.taken[rank] + shares.certain[rank] + shares.free
        return place < room

    def receive_met(self, rank: int, at: int) -> bool:
        """Is there a posted message for this receive, one that no earlier receive takes?"""
        event = self.records[rank].events[at]
        group = self.group_of(event)
        if group is None:
            return True
        box = (group, rank, event.tag)
        if event.flags & ANY_SOURCE:
            return self._shares(box).met(at)
        if event.peer is None:
            return True
        left = len(self._sends.get((group, event.peer, rank, event.tag), ()))
        if box in self._from_any:
            shares = self._shares(box)
            left -= shares.taken[event.peer] + shares.certain[event.peer]
        return self._place[rank][at] < left

    def unmet_between(self, src: int, dst: int, op: str) -> list[Event]:
        """Sends or receives (`op`) between two ranks that nothing on the other side matches."""
        rows, others = self._sends, self._receives
        if op == "recv":
            rows, others = others, rows
        owner, found = (src if op == "send" else dst), []
        for key, row in rows.items():
            group, a, b, tag = key
            if (a, b) == (src, dst) and (group, dst, tag) not in self._from_any:
                beyond = row[len(others.get(key, ())) :]
                found += [self.records[owner].events[at] for at in beyond]
        return found

    def unmet_from_any(self, dst: int, src: int) -> list[Event]:
        """Receives of `dst` from any source that `src` could send to, and that are pending."""
        return [
            self.event((dst, at))
            for (group, receiver, _), row in self._from_any.items()
            if receiver == dst and src in group[0]
            for at in row
            if self.event((dst, at)).state == POSTED
        ]

    def pairs(self) -> Iterator[tuple[Event, Event]]:
        """Each send with its receive, where no any-source receive leaves that open."""
        for key, row in self._sends.items():
            group, src, dst, tag = key
            if (group, dst, tag) in self._from_any:
                continue
            for sent, received in zip(row, self._receives.get(key, ()), strict=False):
                yield self.event((src, sent)), self.event((dst, received))

    def unmatched(self) -> list[Event]:
        """Messages that no receive takes, and receives that got none."""
        found = []
        for rank, places in enumerate(self._place):
            for at, place in enumerate(places):
                event = self.event((rank, at))
                if not event.is_message or place < 0 or (event.op == "recv" and event.done):
                    continue
                met = self.send_met if event.op == "send" else self.receive_met
                if not met(rank, at):
                    found.append(event)
        return found

    def _shares(self, box: Box) -> Shares:
        """How the any-source receives of one receiver, group and tag are shared by the senders."""
        if (known := self._shared.get(box)) is None:
            group, dst, tag = box
            senders = {}
            for src in group[0]:
                channel, events = (group, src, dst, tag), self.records[src].events
                sends = [events[at] for at in self._sends.get(channel, ())]
                senders[src] = Sender(sends, self._receives.get(channel, ()))
            receives = self._from_any[box]
            known = self._shared[box] = Shares(receives, self.records[dst].events, senders)
        return known


def refused_by_torch(event: Event) -> bool:
    """Did the call raise before anything was posted (a bad argument, say)?"""
    return event.state == FAILED and not event.wait_begin


def posts(event: Event) -> bool:
    """Does this entry stand for an operation of its own, which can meet others? A call that torch
    refused does not, nor does a second wait for an operation that has ended.
    """
    return not (refused_by_torch(event) or event.flags & AGAIN)


def broken_off(event: Event) -> bool:
    """Has an operation failed that had begun, and not by a timeout of its own?"""
    return event.state == FAILED and not refused_by_torch(event) and not event.gave_up


def gave_up(event: Event) -> bool:
    """Did its wait end by a timeout of its own? It can be waited for again."""
    return event.state == FAILED and bool(event.wait_begin and event.until)


def sits_in(ledger: Ledger, rank: int, held: bool = False) -> tuple[int, ...]:
    """The positions of the operations that a rank sits in: one for each agent of its function, the
    function's own first. Empty while one of them may still do something else.

    Agents are the function itself, its threads, the callbacks that run, and those that wait for an
    operation to end. `new_group` counts: its call returns when every member has called it.

    Args:
        held: count a `backward` that cannot return before an operation ends.
    """
    record = ledger.records[rank]
    needed = (not record.ended) + record.agents
    by_thread: dict[int, int] = {}
    callbacks = []
    for at, event in ledger.open(rank):
        inside = event.wait_begin and not (event.wait_end or event.flags & MADE_TRUE)
        if inside or (event.op == "new_group" and event.group_index != NO_GROUP):
            by_thread.setdefault(event.thread, at)
        if event.flags & CALLBACK:
            callbacks.append(at)
    if held and len(by_thread) < needed and (needs := awaited(ledger, rank)) is not None:
        by_thread.setdefault(ledger.event((rank, needs)).thread, needs)
    if len(by_thread) < needed or (record.pending and not callbacks):
        return ()
    own = [by_thread[thread] for thread in sorted(by_thread)]
    return tuple(dict.fromkeys([*own, *callbacks]))


def awaited(ledger: Ledger, rank: int) -> int | None:
    """The position of a collective that this rank's `backward` will have to wait for.

    DDP starts all-reduces during `backward` and takes their futures, so that no wait is on record;
    `backward` does not return without them. The first that a member has not called counts. Other
    collectives of torch's own are waited for where they are used: a functional one whose result
    nobody has touched holds up nobody. Horovod's are waited for in `step`, which is on record.
    """
    found: int | None = None
    for at, event in ledger.open(rank):
        if event.is_named or not (event.internal and event.is_collective):
            continue
        if event.flags & FUTURE and event.api in BACKWARD and ledger.absentees(rank, at):
            found = at
    return found
