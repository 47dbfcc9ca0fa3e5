"""A slow network, imitated on one machine: every rank has a link of its own.

    with slow_links(latency=0.005, bandwidth=20e6):
        dist.send(tensor, dst=1)      # takes 5 ms, and 50 ms for each MB

Ranks of one machine share its cores and its memory, so that a ring of them says little about a ring
of machines. Here messages travel as always and are then held back until they would have come out of
a link: a rank's messages leave one after the other at its bandwidth, arrive one after the other at
that of the receiver, and each is on its way for the latency. Waiting costs no core, so many ranks
can be watched on few. Collectives are not held back.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from distlab.recorder import mapped

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

    def _place(self, counts: Counter, src: int, dst: int) -> int:
        number = counts[src, dst]
        counts[src, dst] += 1
        return (src * self._size + dst) * _KEPT + number % _KEPT


class _HeldWork:
    """A request whose wait ends when the message would be through."""

    def __init__(self, work: Any, through: Any) -> None:
        self._work, self._through = work, through

    def wait(self, *timeout):
        result = self._work.wait(*timeout)
        if self._through is not None:
            until, self._through = self._through(self._work), None
            time.sleep(max(0.0, until - time.monotonic()))
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self._work, name)


class _SlowGroup:
    """A process group whose messages are held back; everything else is the real group's."""

    def __init__(self, group: Any, departures: _Departures, latency: float, bandwidth: float):
        self._real, self._departures = group, departures
        self._latency, self._bandwidth = latency, bandwidth
        self._out_free = self._in_free = 0.0  # when this rank's link is free again, each way

    def send(self, tensors, dst, tag):
        begin = max(time.monotonic(), self._out_free)
        self._out_free = end = begin + self._seconds(tensors[0])
        self._departures.note(self._real.rank(), dst, begin)
        return _HeldWork(self._real.send(tensors, dst, tag), lambda work: end)

    def recv(self, tensors, src, tag):
        work = self._real.recv(tensors, src, tag)
        return _HeldWork(work, lambda work: self._arrival(tensors[0], src))

    def recv_anysource(self, tensors, tag):
        work = self._real.recv_anysource(tensors, tag)
        return _HeldWork(work, lambda work: self._arrival(tensors[0], work._source_rank()))

    def _arrival(self, tensor, src: int) -> float:
        departed = self._departures.next(src, self._real.rank())
        begin = max(departed + self._latency, self._in_free)
        self._in_free = begin + self._seconds(tensor)
        return self._in_free

    def _seconds(self, tensor) -> float:
        return tensor.numel() * tensor.element_size() / self._bandwidth

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


@contextlib.contextmanager
def slow_links(latency: float, bandwidth: float) -> Iterator[None]:
    """Give every rank of the default group a link of its own while the context lasts.

    Enter it on every rank of a `Ranks` run, equally often. The record of the run shows the time
    that messages take so.

    Args:
        latency: seconds that each message is on its way, whatever its size.
        bandwidth: bytes a second that a rank can send, and as many that it can receive meanwhile.

    Raises:
        ValueError: no such link.
        RuntimeError: this process is no rank of this library.
    """
    from torch.distributed import distributed_c10d as c10d

    from distlab.recorded import RecordedGroup

    if not (latency >= 0 and bandwidth > 0):
        raise ValueError(f"no link has a latency of {latency} s and {bandwidth} bytes a second")
    group = c10d._get_default_group()
    if not isinstance(group, RecordedGroup) or "DISTLAB_RUN" not in os.environ:
        raise RuntimeError("slow links are for ranks that `Ranks.run` started")
    uses = group.slow_links = getattr(group, "slow_links", 0) + 1
    departures = _Departures(Path(os.environ["DISTLAB_RUN"], f"links.{uses}"), group.size())
    real, group._group = group._group, _SlowGroup(group._group, departures, latency, bandwidth)
    try:
        yield
    finally:
        group._group = real
