"""When imitated ports and links are busy, in memory that all ranks of a machine share.

`slow_links` asks here when a message or a collective would be through. What one rank writes under
the lock the others see, so that ranks can share an adapter, and groups the links of their members.
"""

from __future__ import annotations

import contextlib
import fcntl
import heapq
import itertools
import os
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from distlab.rank.mapping import mapped
from distlab.simulation.network import Cluster
from distlab.simulation.rank_clock import Clock, Mark

_KEPT = 4096  # entries of each ring buffer: messages of a port, receives, collectives of a group
_NOTE = 6  # numbers of a message: when it reaches its port, how long it takes, from, to, group, tag
_ASK = 4  # numbers of a receive: when it was begun, from whom, group, tag
_LOOK = 0.001  # seconds between two checks whether all members have called a collective

#: a message's sender, group and tag; messages of one channel arrive in the order they were sent
Channel = tuple[int, int, int]


class _Lock:
    """A lock that one thread of one rank holds at a time."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        self._threads = threading.Lock()

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        with self._threads:
            fcntl.flock(self._file, fcntl.LOCK_EX)
            try:
                yield
            finally:
                fcntl.flock(self._file, fcntl.LOCK_UN)

    def close(self) -> None:
        os.close(self._file)


@dataclass
class _Arrival:
    """A message that has reached its receiver's port, or will."""

    at: float
    seconds: float
    end: float | None = None


@dataclass
class _Inbox:
    """What this rank knows of a port by which it receives."""

    read: int = 0  # how many of its messages this rank has read from the shared memory
    free: float = 0.0  # when it is free
    coming: list[tuple[float, int, _Arrival]] = field(default_factory=list)


class Ports:
    """The ports of a cluster, as rank `rank` sees them.

    Args:
        path: of the shared memory, without the suffixes of its files.
        clock: this rank's clock.
    """

    def __init__(self, path: Path, rank: int, cluster: Cluster, clock: Clock) -> None:
        self._rank, self._cluster, self.clock = rank, cluster, clock
        self.lock = _Lock(path.with_suffix(".lock"))
        count = cluster.ports
        self._out = memoryview(mapped(path.with_suffix(".out"), count * 8)).cast("d")
        self.links = _Links(path, cluster.size)
        notes = mapped(path.with_suffix(".in"), count * (_KEPT * _NOTE + 1) * 8)
        self._notes = memoryview(notes).cast("d")
        asks = mapped(path.with_suffix(".asks"), cluster.size * (_KEPT * _ASK + 1) * 8)
        self._asks = memoryview(asks).cast("d")
        self._asked: dict[int, int] = defaultdict(int)  # how many receives of each rank are read
        self._for_me: dict[Channel, deque[float]] = defaultdict(deque)
        self.path = path
        self._inboxes: dict[int, _Inbox] = defaultdict(_Inbox)
        self._mine: dict[Channel, deque[_Arrival]] = defaultdict(deque)
        self._routes: dict[tuple[int, int], tuple[float, float, int, int]] = {}
        self._order = itertools.count()
        self._threads = threading.Lock()

    def _link(self, src: int, dst: int) -> tuple[float, float, int, int]:
        if (src, dst) not in self._routes:
            found = self._cluster.links(np.array([src]), np.array([dst]))
            self._routes[src, dst] = tuple(array[0].item() for array in found)
        return self._routes[src, dst]

    def send(self, dst: int, nbytes: int, group: int, tag: int) -> float:
        """Note a message that is sent now; returns when it has left its port."""
        latency, per_byte, out, into = self._link(self._rank, dst)
        seconds, now = per_byte * nbytes, self.clock.now()
        with self.lock.held():
            begin = max(now, self._out[out])
            self._out[out] = begin + seconds
            first = into * (_KEPT * _NOTE + 1)
            number = int(self._notes[first])
            at = first + 1 + number % _KEPT * _NOTE
            note = (begin + latency, seconds, self._rank, dst, group, tag)
            for place, one in enumerate(note):
                self._notes[at + place] = one
            self._notes[first] = number + 1
        return begin + seconds

    def ask(self, src: int, group: int, tag: int) -> None:
        """Note that this rank is ready now for a message of this channel."""
        now, first = self.clock.now(), self._rank * (_KEPT * _ASK + 1)
        with self.lock.held():
            number = int(self._asks[first])
            at = first + 1 + number % _KEPT * _ASK
            for place, one in enumerate((now, src, group, tag)):
                self._asks[at + place] = one
            self._asks[first] = number + 1

    def asked(self, dst: int, group: int, tag: int) -> float:
        """When the receiver of this rank's next message was ready for it; 0 if it receives from any
        source.
        """
        first = dst * (_KEPT * _ASK + 1)
        with self._threads, self.lock.held():
            count = int(self._asks[first])
            for number in range(max(self._asked[dst], count - _KEPT), count):
                at = first + 1 + number % _KEPT * _ASK
                when, src, *channel = self._asks[at : at + _ASK]
                if src == self._rank:
                    self._for_me[dst, int(channel[0]), int(channel[1])].append(when)
            self._asked[dst] = count
            mine = self._for_me[dst, group, tag]
            return mine.popleft() if mine else 0.0

    def arrival(self, src: int, group: int, tag: int, begun: Mark) -> float:
        """Wait until the next message of a channel begins to arrive; returns when it is through.

        The real message has arrived before. When the imitated one begins to arrive, all messages
        that reach the port earlier have been noted.

        Args:
            begun: when this rank began to wait for it.

        Raises:
            RuntimeError: more messages came before they were waited for than are kept.
        """
        port = self._link(src, self._rank)[3]
        with self._threads:
            self._look(port)
            mine = self._mine[src, group, tag]
            if not mine:
                raise RuntimeError(
                    f"more than {_KEPT} messages have come by one imitated link before they were "
                    "waited for: wait earlier"
                )
            arrival = mine.popleft()
        self.clock.sleep(arrival.at, begun)
        with self._threads:
            self._look(port)
            inbox = self._inboxes[port]
            while inbox.coming and inbox.coming[0][0] <= arrival.at:
                *_, one = heapq.heappop(inbox.coming)
                one.end = inbox.free = max(inbox.free, one.at) + one.seconds
            assert arrival.end is not None  # it was among these
            return arrival.end

    def _look(self, port: int) -> None:
        """Read what has been noted for a port since the last look."""
        inbox, first = self._inboxes[port], port * (_KEPT * _NOTE + 1)
        with self.lock.held():
            count = int(self._notes[first])
            for number in range(max(inbox.read, count - _KEPT), count):
                at = first + 1 + number % _KEPT * _NOTE
                when, seconds, src, dst, group, tag = self._notes[at : at + _NOTE]
                one = _Arrival(when, seconds)
                heapq.heappush(inbox.coming, (when, next(self._order), one))
                if dst == self._rank:
                    self._mine[int(src), int(group), int(tag)].append(one)
        inbox.read = count

    def close(self) -> None:
        self.lock.close()


class Collectives:
    """The collectives of one group.

    Collective k begins when the last member has called it and the links of all members are through
    with the collectives that were called before, in any group. Which these are is decided only when
    a rank waits for its end and it could be through: since clocks differ, an earlier call may be
    noted later.

    Args:
        name: the group's, equal on all its members and different from that of any other group.
        ranks: the group's members.
    """

    def __init__(self, ports: Ports, name: str, ranks: list[int]) -> None:
        self._ports, self._ranks = ports, ranks
        path = ports.path.with_suffix(f".group.{name}")
        self._table = memoryview(mapped(path, _KEPT * 3 * 8)).cast("d")
        self._called = 0

    def call(self, seconds: Callable[[], float]) -> int:
        """Note that this rank calls its next collective now; returns its number.

        Args:
            seconds: how long it takes once it has begun.
        """
        number, now = self._called, self._ports.clock.now()
        self._called += 1
        at = number % _KEPT * 3
        with self._ports.lock.held():
            self._table[at] += 1
            self._table[at + 1] = max(self._table[at + 1], now)
            if self._table[at] == len(self._ranks) * (number // _KEPT + 1):  # the last one
                links = self._ports.links
                self._table[at + 2] = links.note(self._table[at + 1], seconds(), self._ranks)
        return number

    def called_by_all(self, number: int) -> bool:
        """Have all members called a collective?"""
        with self._ports.lock.held():
            called: float = self._table[number % _KEPT * 3]
        return called >= len(self._ranks) * (number // _KEPT + 1)

    def times(self, number: int, begun: Mark | None = None) -> tuple[float, float]:
        """(begin, end) of a collective, as soon as all members have called it.

        The real one may be over before that: the root of a broadcast does not wait for all.

        Args:
            begun: when this rank began to wait for it, if it waits.
        """
        while not self.called_by_all(number):
            time.sleep(_LOOK)
        links, entry = self._ports.links, int(self._table[number % _KEPT * 3 + 2])
        if begun is not None:
            self._ports.clock.sleep(links.earliest(entry), begun)
        with self._ports.lock.held():
            return links.decided(entry)


class _Links:
    """The collectives of all groups that all members have called, and when ranks' links are busy.

    To be used with the lock held.
    """

    def __init__(self, path: Path, size: int) -> None:
        self._size, self._width = size, 4 + size  # called, seconds, begin, end, who takes part
        self._busy = memoryview(mapped(path.with_suffix(".busy"), (size + 1) * 8)).cast("d")
        called = mapped(path.with_suffix(".called"), _KEPT * self._width * 8)
        self._called = memoryview(called).cast("d")

    def note(self, called: float, seconds: float, ranks: list[int]) -> int:
        """Add a collective; returns its number."""
        number = int(self._busy[self._size])
        self._busy[self._size] = number + 1
        at = number % _KEPT * self._width
        row = [called, seconds, 0.0, 0.0, *(float(rank in ranks) for rank in range(self._size))]
        for place, one in enumerate(row):
            self._called[at + place] = one
        return number

    def earliest(self, number: int) -> float:
        """When a collective is through if its links are free."""
        at = number % _KEPT * self._width
        return self._called[at] + self._called[at + 1]

    def decided(self, number: int) -> tuple[float, float]:
        """Its begin and end, after the collectives that were called before it."""
        last = number % _KEPT * self._width
        if not self._called[last + 3]:
            count = int(self._busy[self._size])
            rows = [n % _KEPT * self._width for n in range(max(0, count - _KEPT), count)]
            waiting = [at for at in rows if not self._called[at + 3]]
            for at in sorted(waiting, key=lambda at: self._called[at]):
                if self._called[at] > self._called[last]:
                    break
                self._decide(at)
        return self._called[last + 2], self._called[last + 3]

    def _decide(self, at: int) -> None:
        called, seconds = self._called[at : at + 2]
        ranks = [rank for rank in range(self._size) if self._called[at + 4 + rank]]
        begin = max(called, *(self._busy[rank] for rank in ranks))
        self._called[at + 2], self._called[at + 3] = begin, begin + seconds
        for rank in ranks:
            self._busy[rank] = begin + seconds
