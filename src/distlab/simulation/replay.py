"""Follows every operation of every rank through a simulated cluster.

A discrete-event simulation: the event that is handled next is always the earliest one. It gives the
records that a real run would have left, so that timelines, traffic and traces can be made of them.

A send ends when its message has left and its receiver has asked for it, as with gloo, NCCL, and
MPI's large messages; the message is on its way meanwhile. A collective begins when all members have
called it and the links of all are through with collectives that began earlier, in any group.
Messages and collectives do not slow each other down.
"""

from __future__ import annotations

import heapq
import itertools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from distlab.records.events import BUFFERED, DONE, POSTED, RETURNED, RUNNING, Event, RankRecord
from distlab.simulation.collectives import seconds_of
from distlab.simulation.network import Cluster
from distlab.simulation.programs import Compute, Post, Program, Wait

_FIRST = 1e-12  # seconds, in place of 0, which in records means that a time is not known


def replay(
    programs: Sequence[Program], cluster: Cluster, algorithm: str = "ring"
) -> list[RankRecord]:
    """Run programs, one for each rank, on a cluster; returns the ranks' records. Times begin at 0.

    A rank that waits forever, because another was lost, has no end, as in a real run.

    Args:
        algorithm: of all-reduces, as `distlab.simulation.collectives.ALL_REDUCES` names them.

    Raises:
        ValueError: there are not as many programs as ranks, or too many or few for the algorithm.
    """
    if len(programs) != cluster.size:
        raise ValueError(f"{len(programs)} programs for {cluster.size} ranks: one a rank")
    return _Replay(programs, cluster, algorithm).run()


@dataclass
class _Rank:
    program: Program
    time: float = 0.0
    next: int = 0
    events: list[Event] = field(default_factory=list)
    ends: list[float | None] = field(default_factory=list)  # of each operation, once it is known
    waits: int | None = None  # for the end of this operation
    over: bool = False


@dataclass
class _Message:
    src: int
    tag: int
    seconds: float  # in the receiver's port
    end: float = 0.0


@dataclass
class _Offer:
    """A send whose message no receive has asked for yet."""

    src: int
    tag: int
    operation: int
    out: float  # when it has left its port


class _Replay:
    def __init__(self, programs: Sequence[Program], cluster: Cluster, algorithm: str) -> None:
        self._algorithm = algorithm
        self._cluster, self._slowness = cluster, cluster.slowness()
        self._ranks = [_Rank(program) for program in programs]
        self._out, self._in = [0.0] * cluster.ports, [0.0] * cluster.ports
        # moment, order, what
        self._queue: list[tuple[float, int, tuple[Any, ...]]] = []
        self._order = itertools.count()
        self._wanted: dict[int, list[tuple[int, Event]]] = defaultdict(list)  # receives, by rank
        self._arrived: dict[int, list[_Message]] = defaultdict(list)  # messages, by rank
        # by receiver: sends that no receive has asked for, and receives without a send so far
        self._offers: dict[int, list[_Offer]] = defaultdict(list)
        self._asks: dict[int, list[Event]] = defaultdict(list)
        # collectives, by rank
        self._through = [0.0] * cluster.size
        self._calls: dict[tuple[Any, ...], dict[int, int]] = defaultdict(dict)
        self._counts: dict[tuple[Any, ...], int] = defaultdict(int)
        self._links: dict[tuple[int, int], tuple[float, float, int, int]] = {}

    def run(self) -> list[RankRecord]:
        for rank in range(len(self._ranks)):
            self._at(0.0, "go on", rank)
        now = 0.0
        while self._queue:
            now, _, (what, *about) = heapq.heappop(self._queue)
            if what == "go on":
                self._go_on(*about)
            else:
                self._arrive(now, *about)
        return [self._record(rank, now) for rank in range(len(self._ranks))]

    def _at(self, moment: float, *what: Any) -> None:
        heapq.heappush(self._queue, (moment, next(self._order), what))

    def _record(self, number: int, now: float) -> RankRecord:
        rank, dies = self._ranks[number], self._cluster.lost.get(number)
        made = RankRecord(number, len(self._ranks), events=rank.events)
        if rank.over:
            made.progress, made.end = RETURNED, rank.time
        else:
            made.progress, made.stopped = RUNNING, max(now, rank.time) if dies is None else dies
        return made

    def _go_on(self, number: int) -> None:
        """Let a rank go on until it waits, or until another rank's turn comes first."""
        rank = self._ranks[number]
        begin = rank.time
        while rank.next < len(rank.program):
            if rank.time > begin:  # other ranks may have something to do before that
                self._at(rank.time, "go on", number)
                return
            if rank.time >= self._cluster.lost.get(number, float("inf")):
                return
            what = rank.program[rank.next]
            if not self._did(rank, number, what):
                return
            rank.next += 1
            if isinstance(what, Post):  # ranks take turns: others post before this one posts again
                self._at(rank.time, "go on", number)
                return
        rank.over = True

    def _did(self, rank: _Rank, number: int, what: Compute | Post | Wait) -> bool:
        if isinstance(what, Compute):
            rank.time += what.seconds * self._slowness[number].item()
        elif isinstance(what, Post):
            self._post(rank, number, what.event)
        else:
            event = rank.events[what.number]
            if not event.wait_begin:
                event.wait_begin = rank.time or _FIRST
            end = rank.ends[what.number]
            if end is None:
                rank.waits = what.number
                return False
            rank.time = max(rank.time, end)
            event.end = event.wait_end = rank.time or _FIRST
            event.state = DONE
        return True

    def _post(self, rank: _Rank, number: int, like: Event) -> None:
        event = replace(
            like, rank=number, index=len(rank.events), state=POSTED, begin=rank.time or _FIRST,
            end=0.0, wait_begin=0.0, wait_end=0.0, until=0.0,
        )  # fmt: skip
        rank.events.append(event)
        rank.ends.append(None)
        if event.op == "send":
            self._send(number, event)
        elif event.op == "recv":
            self._receive(number, event)
        else:
            self._join(number, event)

    # messages

    def _send(self, src: int, event: Event) -> None:
        """Give a message to its port."""
        assert event.peer is not None  # every send has one
        latency, per_byte, out, _ = self._link(src, event.peer)
        seconds = per_byte * event.nbytes
        begin = max(event.begin, self._out[out])
        self._out[out] = begin + seconds
        message = _Message(src, event.tag, seconds)
        self._at(begin + latency, "arrive", event.peer, message)
        asks = self._asks[event.peer]
        asked = next((place for place, ask in enumerate(asks) if _fits(ask, message)), None)
        if asked is None and not event.flags & BUFFERED:
            self._offers[event.peer].append(_Offer(src, event.tag, event.index, begin + seconds))
            return
        if asked is not None:
            del asks[asked]
        self._known(src, event.index, begin + seconds)

    def _ask(self, dst: int, event: Event) -> None:
        """A receive is posted: the send that it is for can end."""
        for place, offer in enumerate(self._offers[dst]):
            if _fits(event, offer):
                del self._offers[dst][place]
                self._known(offer.src, offer.operation, max(offer.out, event.begin))
                return
        self._asks[dst].append(event)

    def _link(self, src: int, dst: int) -> tuple[float, float, int, int]:
        if (src, dst) not in self._links:
            found = self._cluster.links(np.array([src]), np.array([dst]))
            self._links[src, dst] = tuple(array[0].item() for array in found)
        return self._links[src, dst]

    def _arrive(self, now: float, dst: int, message: _Message) -> None:
        port = self._link(message.src, dst)[3]
        message.end = self._in[port] = max(now, self._in[port]) + message.seconds
        for place, (number, event) in enumerate(self._wanted[dst]):
            if _fits(event, message):
                del self._wanted[dst][place]
                self._known(dst, number, message.end)
                return
        self._arrived[dst].append(message)

    def _receive(self, dst: int, event: Event) -> None:
        self._ask(dst, event)
        for place, message in enumerate(self._arrived[dst]):
            if _fits(event, message):
                del self._arrived[dst][place]
                self._known(dst, event.index, message.end)
                return
        self._wanted[dst].append((event.index, event))

    def _known(self, number: int, operation: int, end: float) -> None:
        """An operation's end is known now: its rank goes on then, if it waits for it."""
        rank = self._ranks[number]
        rank.ends[operation] = end
        if rank.waits == operation:
            rank.waits = None
            rank.time = max(rank.time, end)
            self._at(rank.time, "go on", number)

    # collectives

    def _join(self, number: int, event: Event) -> None:
        """Call a collective: it begins when all members have called, and all end together."""
        members = event.group or tuple(range(len(self._ranks)))
        place = (event.group_index, members, number)
        key = (event.group_index, members, self._counts[place])
        self._counts[place] += 1
        calls = self._calls[key]
        calls[number] = event.index
        if len(calls) < len(members):
            return
        seconds = seconds_of(
            event.op, event.nbytes, event.peer, members, self._cluster, self._algorithm
        )
        end = event.begin
        if seconds:  # a new group is no traffic
            end = max(end, *(self._through[member] for member in members)) + seconds
        for member, operation in calls.items():
            self._through[member] = max(self._through[member], end)
            self._known(member, operation, end)


def _fits(event: Event, message: _Message | _Offer) -> bool:
    return event.peer in (None, message.src) and event.tag == message.tag
