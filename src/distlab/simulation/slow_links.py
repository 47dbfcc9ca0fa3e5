"""A slow network, imitated on one machine: every rank has a link of its own.

    with slow_links(latency=0.005, bandwidth=20e6):
        dist.send(tensor, dst=1)      # takes 5 ms, and 50 ms for each MB

Ranks of one machine share its cores and its memory, so that a ring of them says little about a ring
of machines. Here messages travel as always and are then held back until they would have come out of
a link: a rank's messages leave one after the other at its bandwidth, arrive one after the other at
that of the receiver, and each is on its way for the latency. Waiting costs no core, so many ranks
can be watched on few.

An all-reduce, an all-gather and a reduce-scatter take as long as their rings would: they begin when
the last member has called and the one before is through, and hold a rank that waits for them until
then, but not one that computes meanwhile. Other collectives are not held back.

    with slow_links(latency=0.005, bandwidth=20e6) as link:
        …
        link.transfers                # when the collectives were under way
"""

from __future__ import annotations

import contextlib
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from distlab.rank.mapping import mapped

if TYPE_CHECKING:
    import torch

_KEPT = 4096  # departures of each channel that are kept


class _Departures:
    """When each message left, seen by all ranks: message k of a channel stands at k mod `_KEPT`.

    Messages of a channel, a pair of ranks, are taken to arrive in their order.
    """

    def __init__(self, path: Path, size: int) -> None:
        self._size = size
        self._times = memoryview(mapped(path, size * size * _KEPT * 8)).cast("d")
        self._sent: Counter[tuple[int, int]] = Counter()
        self._received: Counter[tuple[int, int]] = Counter()

    def note(self, src: int, dst: int, departed: float) -> None:
        self._times[self._place(self._sent, src, dst)] = departed

    def next(self, src: int, dst: int) -> float:
        return self._times[self._place(self._received, src, dst)]

    def _place(self, counts: Counter[tuple[int, int]], src: int, dst: int) -> int:
        number = counts[src, dst]
        counts[src, dst] += 1
        return (src * self._size + dst) * _KEPT + number % _KEPT


@dataclass(frozen=True)
class Transfer:
    """One collective on its way, in seconds of the machine's monotonic clock."""

    op: str
    nbytes: int  # what this rank gave
    begin: float
    end: float


@dataclass
class Link:
    """A rank's own link. `transfers`: the collectives that it has waited for, in their order."""

    latency: float
    bandwidth: float
    transfers: list[Transfer] = field(default_factory=list)

    def seconds(self, op: str, nbytes: int, size: int) -> float:
        """How long a collective takes over a ring of `size` ranks, each of which gives `nbytes`."""
        rounds = 2 * (size - 1) if op == "all_reduce" else size - 1
        piece = nbytes if op == "all_gather" else nbytes / size
        return rounds * (self.latency + piece / self.bandwidth)


class _Collectives:
    """When each collective of the group was called by whom, seen by all ranks, and when it ends.

    Collective k of rank r stands at (r, k mod `_KEPT`). All ranks call them in the same order.
    """

    def __init__(self, path: Path, rank: int, size: int, link: Link) -> None:
        self._rank, self._size, self._link = rank, size, link
        self._called = memoryview(mapped(path, size * _KEPT * 8)).cast("d")
        self._given: list[tuple[str, int]] = []

    def call(self, op: str, nbytes: int) -> int:
        """Note that this rank calls its next collective now; returns its number."""
        number = len(self._given)
        self._called[self._rank * _KEPT + number % _KEPT] = time.monotonic()
        self._given.append((op, nbytes))
        return number

    def end(self, number: int) -> float:
        """When a collective is through that all ranks have called."""
        transfers = self._link.transfers
        while len(transfers) <= number:
            at = len(transfers)
            op, nbytes = self._given[at]
            free = transfers[-1].end if transfers else 0.0
            called = [self._called[r * _KEPT + at % _KEPT] for r in range(self._size)]
            begin = max(free, *called)
            end = begin + self._link.seconds(op, nbytes, self._size)
            transfers.append(Transfer(op, nbytes, begin, end))
        return transfers[number].end


class _HeldWork:
    """A request whose wait ends when the message would be through."""

    def __init__(self, work: Any, through: Any) -> None:
        self._work, self._through = work, through

    def wait(self, *timeout: Any) -> Any:
        result = self._work.wait(*timeout)
        if self._through is not None:
            until, self._through = self._through(self._work), None
            time.sleep(max(0.0, until - time.monotonic()))
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self._work, name)


class _HeldCollective(_HeldWork):
    """A collective's request: its future completes late as well, and it is not done before."""

    def is_completed(self) -> bool:
        if not self._work.is_completed():
            return False
        return self._through is None or time.monotonic() >= self._through(self._work)

    def get_future(self) -> torch.futures.Future[Any]:
        through = self._through

        def late(future: torch.futures.Future[Any]) -> Any:
            if through is not None:
                time.sleep(max(0.0, through(self._work) - time.monotonic()))
            return future.value()

        made: torch.futures.Future[Any] = self._work.get_future().then(late)
        return made


#: what a ring carries, by the names of ProcessGroup's methods; the second argument of all but the
#: all-reduces is what a rank gives
_RINGS = {
    "all_reduce": ("allreduce", "allreduce_coalesced"),
    "all_gather": ("allgather", "_allgather_base", "all_gather_single"),
    "reduce_scatter": ("reduce_scatter", "_reduce_scatter_base", "reduce_scatter_single"),
}


class _SlowGroup:
    """A process group whose messages and rings are held back; everything else is the real group's.

    `departures` and `collectives` are shared with the other ranks.
    """

    def __init__(
        self, group: Any, link: Link, departures: _Departures, collectives: _Collectives
    ) -> None:
        self._real, self._departures, self._collectives = group, departures, collectives
        self._latency, self._bandwidth = link.latency, link.bandwidth
        for op, names in _RINGS.items():
            for name in names:
                setattr(self, name, self._ring(op, name))
        self._out_free = self._in_free = 0.0  # when this rank's link is free again, each way

    def send(self, tensors: list[torch.Tensor], dst: int, tag: int) -> _HeldWork:
        begin = max(time.monotonic(), self._out_free)
        self._out_free = end = begin + self._seconds(tensors[0])
        self._departures.note(self._real.rank(), dst, begin)
        return _HeldWork(self._real.send(tensors, dst, tag), lambda work: end)

    def recv(self, tensors: list[torch.Tensor], src: int, tag: int) -> _HeldWork:
        work = self._real.recv(tensors, src, tag)
        return _HeldWork(work, lambda work: self._arrival(tensors[0], src))

    def recv_anysource(self, tensors: list[torch.Tensor], tag: int) -> _HeldWork:
        work = self._real.recv_anysource(tensors, tag)
        return _HeldWork(work, lambda work: self._arrival(tensors[0], work._source_rank()))

    def _ring(self, op: str, name: str) -> Callable[..., _HeldCollective]:
        def call(*args: Any) -> _HeldCollective:
            given = args[0] if op == "all_reduce" else args[1]
            number = self._collectives.call(op, _bytes(given))
            work = getattr(self._real, name)(*args)
            return _HeldCollective(work, lambda work: self._collectives.end(number))

        return call

    def _arrival(self, tensor: torch.Tensor, src: int) -> float:
        departed = self._departures.next(src, self._real.rank())
        begin = max(departed + self._latency, self._in_free)
        self._in_free = begin + self._seconds(tensor)
        return self._in_free

    def _seconds(self, tensor: torch.Tensor) -> float:
        return _bytes(tensor) / self._bandwidth

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def _bytes(tensors: Any) -> int:
    """Of a tensor, or of all in nested lists."""
    if isinstance(tensors, (list, tuple)):
        return sum(map(_bytes, tensors))
    size: int = tensors.numel() * tensors.element_size()
    return size


@contextlib.contextmanager
def slow_links(latency: float, bandwidth: float) -> Iterator[Link]:
    """Give every rank of the default group a link of its own while the context lasts.

    Enter it on every rank of a `Ranks` run, equally often. The record of the run shows the time
    that messages take so. Other groups keep the links that they have.

    Args:
        latency: seconds that each message is on its way, whatever its size.
        bandwidth: bytes a second that a rank can send, and as many that it can receive meanwhile.

    Raises:
        ValueError: no such link.
        RuntimeError: this process is no rank of this library.
    """
    from torch.distributed import distributed_c10d as c10d

    from distlab.rank.process_group import RecordedGroup

    if not (latency >= 0 and bandwidth > 0):
        raise ValueError(f"no link has a latency of {latency} s and {bandwidth} bytes a second")
    group = c10d._get_default_group()
    if not isinstance(group, RecordedGroup) or "DISTLAB_RUN" not in os.environ:
        raise RuntimeError("slow links are for ranks that `Ranks.run` started")
    group.slow_links += 1
    uses = group.slow_links
    folder, rank, size = Path(os.environ["DISTLAB_RUN"]), group.rank(), group.size()
    link = Link(latency, bandwidth)
    departures = _Departures(folder / f"links.{uses}", size)
    collectives = _Collectives(folder / f"links.{uses}.collectives", rank, size, link)
    real, group._group = group._group, _SlowGroup(group._group, link, departures, collectives)
    try:
        yield link
    finally:
        group._group = real
