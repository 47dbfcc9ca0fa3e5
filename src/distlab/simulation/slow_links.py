"""A slow network, imitated on one machine: every rank has a link of its own.

    with slow_links(latency=0.005, bandwidth=20e6):
        dist.send(tensor, dst=1)      # takes 5 ms, and 50 ms for each MB

Ranks of one machine share its cores and its memory, so that a ring of them says little about a ring
of machines. Here messages travel as always and are then held back until they would have come out of
a link: a rank's messages leave one after the other at its bandwidth, arrive one after the other at
the receiver's, and each is on its way for the latency. Waiting uses no core, so many ranks can be
watched on few cores.

An all-reduce, an all-gather and a reduce-scatter take as long as they would as rings. They begin
when the last member has called and the collective before is through. A rank that waits for one is
held until its end; a rank that computes meanwhile is not. Other collectives are not held back.

    with slow_links(latency=0.005, bandwidth=20e6) as link:
        …
        link.transfers                # when the collectives were under way

`slow_cluster` imitates a whole `Cluster`, for all groups and collectives: nodes with one link
inside and another between them, which the ranks of a node may share.
"""

from __future__ import annotations

import contextlib
import math
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from distlab.processes.told_alone import ToldAlone
from distlab.processes.wrong_argument import WrongArgument, takes
from distlab.records import events
from distlab.simulation import cost_model
from distlab.simulation.collectives import seconds_of
from distlab.simulation.network import Cluster
from distlab.simulation.rank_clock import Clock, Mark
from distlab.simulation.shared_ports import Collectives, Ports

if TYPE_CHECKING:
    import torch

    from distlab.rank.process_group import RecordedGroup


@dataclass(frozen=True)
class Transfer:
    """One collective on its way, in seconds of the machine's monotonic clock."""

    op: str
    nbytes: int  # that this rank handed in
    begin: float
    end: float


@dataclass
class Link:
    """A rank's own link. `transfers`: the collectives that it has waited for, in order."""

    latency: float
    bandwidth: float
    transfers: list[Transfer] = field(default_factory=list)


class _HeldWork:
    """A request whose wait ends when the message would be through.

    Args:
        through: called once the real message has come, with the mark of when the wait began;
            returns when the imitated one is through. `None` once that has been asked.
    """

    def __init__(self, work: Any, through: Any, clock: Clock) -> None:
        self._work, self._through, self._clock = work, through, clock

    def wait(self, *timeout: Any) -> Any:
        begun = self._clock.mark()
        result = self._work.wait(*timeout)
        if self._through is not None:
            until, self._through = self._through(begun), None
            self._clock.wait_until(until, begun)
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self._work, name)


class _HeldCollective(_HeldWork):
    """A collective's request: its future completes late as well, and it is not done before."""

    def is_completed(self) -> bool:
        if not self._work.is_completed():
            return False
        return self._through is None or self._clock.now() >= self._through(None)

    def get_future(self) -> torch.futures.Future[Any]:
        through, begun = self._through, self._clock.mark()

        def late(future: torch.futures.Future[Any]) -> Any:
            if through is not None:
                self._clock.wait_until(through(begun), begun)
            return future.value()

        made: torch.futures.Future[Any] = self._work.get_future().then(late)
        return made


#: methods of ProcessGroup → which collective it is, and which argument holds what a rank hands in
_RINGS = {
    "allreduce": ("all_reduce", 0),
    "allreduce_coalesced": ("all_reduce", 0),
    "allgather": ("all_gather", 1),
    "_allgather_base": ("all_gather", 1),
    "all_gather_single": ("all_gather", 1),
    "reduce_scatter": ("reduce_scatter", 1),
    "_reduce_scatter_base": ("reduce_scatter", 1),
    "reduce_scatter_single": ("reduce_scatter", 1),
}
_OTHERS = {
    "broadcast": ("broadcast", 0),
    "reduce": ("reduce", 0),
    "gather": ("gather", 1),
    "scatter": ("scatter", 0),  # what it receives: only the root hands something in
    "alltoall": ("all_to_all", 1),
    "alltoall_base": ("all_to_all", 1),
    "all_to_all_single": ("all_to_all", 1),
    "barrier": ("barrier", None),
}


class _SlowGroup:
    """A process group whose messages and some collectives are held back; everything else is the
    real group's.

    `ports` and `collectives` are shared with the other ranks.
    """

    def __init__(
        self, group: Any, link: Link, ports: Ports, number: int, ranks: list[int],
        held: Mapping[str, tuple[str, int | None]], cluster: Cluster,
    ) -> None:  # fmt: skip
        self._real, self._link, self._ports, self._cluster = group, link, ports, cluster
        self._number, self._ranks = number, ranks
        self._collectives = Collectives(ports, str(number), ranks)
        self._given: list[tuple[str, int]] = []
        for name, (op, given) in held.items():
            setattr(self, name, self._collective(name, op, given))

    def send(self, tensors: list[torch.Tensor], dst: int, tag: int) -> _HeldWork:
        end = self._ports.send(self._ranks[dst], _bytes(tensors), self._number, tag)
        work = self._real.send(tensors, dst, tag)
        return self._held(work, lambda begun: max(end, self._asked(dst, tag)))

    def recv(self, tensors: list[torch.Tensor], src: int, tag: int) -> _HeldWork:
        self._ports.ask(self._ranks[src], self._number, tag)
        work = self._real.recv(tensors, src, tag)
        return self._held(work, lambda begun: self._arrival(src, tag, begun))

    def recv_anysource(self, tensors: list[torch.Tensor], tag: int) -> _HeldWork:
        work = self._real.recv_anysource(tensors, tag)
        return self._held(work, lambda begun: self._arrival(work._source_rank(), tag, begun))

    def _held(self, work: Any, through: Callable[[Mark], float]) -> _HeldWork:
        return _HeldWork(work, through, self._ports.clock)

    def _asked(self, dst: int, tag: int) -> float:
        return self._ports.asked(self._ranks[dst], self._number, tag)

    def _arrival(self, src: int, tag: int, begun: Mark) -> float:
        return self._ports.arrival(self._ranks[src], self._number, tag, begun)

    def _collective(self, name: str, op: str, given: int | None) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            nbytes = 0 if given is None else _bytes(args[given])
            root = next((arg.rootRank for arg in args if hasattr(arg, "rootRank")), None)
            self._given.append((op, nbytes))
            begun = self._ports.clock.mark()
            number = self._collectives.call(lambda: self._seconds(op, nbytes, root))
            work = getattr(self._real, name)(*args, **options)
            clock = self._ports.clock
            if work is None:  # torch has waited
                clock.wait_until(self._end(number, begun), begun)
                return None
            return _HeldCollective(work, lambda begun: self._end(number, begun), clock)

        return call

    def _seconds(self, op: str, nbytes: int, root: int | None) -> float:
        first = None if root is None else self._ranks[root]
        return seconds_of(op, nbytes, first, tuple(self._ranks), self._cluster)

    def _end(self, number: int, begun: Mark | None) -> float:
        """When a collective is through; `inf` for who only asks before all have called it."""
        if begun is None and not self._collectives.called_by_all(number):
            return math.inf
        end = self._collectives.times(number, begun)[1]
        transfers = self._link.transfers
        while len(transfers) <= number:
            at = len(transfers)
            transfers.append(Transfer(*self._given[at], *self._collectives.times(at)))
        return end

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def _bytes(tensors: Any) -> int:
    """Bytes of a tensor, or of all tensors in nested lists."""
    if isinstance(tensors, (list, tuple)):
        return sum(map(_bytes, tensors))
    size: int = tensors.numel() * tensors.element_size()
    return size


class NotARank(ToldAlone, RuntimeError):
    """Links are slow for the ranks of a run alone."""


@takes("slow_links takes seconds and bytes a second, slow_links(1e-3, 1e8) say")
@contextlib.contextmanager
def slow_links(latency: float, bandwidth: float) -> Iterator[Link]:
    """Give every rank of the default group a link of its own while the context lasts.

    Enter it on every rank of a `Ranks` run, equally often. The record of the run shows the times
    that messages then take. Other groups keep the links that they have.

    Args:
        latency: seconds that each message is on its way, whatever its size.
        bandwidth: bytes a second that a rank can send, and at the same time receive.

    Raises:
        WrongArgument: there is no such link.
        NotARank: this process is not a rank of this library.
    """
    numbers = all(hasattr(one, "__float__") for one in (latency, bandwidth))
    if not numbers or not (latency >= 0 and bandwidth > 0):
        raise WrongArgument(
            f"no link has a latency of {latency!r} s and {bandwidth!r} bytes a second"
        )
    latency, bandwidth = float(latency), float(bandwidth)  # arrays of one number have no hash
    group = _default_group()
    link = Link(latency, bandwidth)
    cluster = Cluster(group.size(), 1, between=cost_model.Link(latency, bandwidth))
    ports = _ports(group, cluster, Clock(steady=False))
    try:
        with _held([group], link, ports, _RINGS, cluster):
            yield link
    finally:
        ports.close()


@contextlib.contextmanager
def slow_cluster(cluster: Cluster, clock: Clock | None = None) -> Iterator[Link]:
    """Let the ranks of this machine be those of a cluster while the context lasts.

    Enter it on every rank of a `Ranks` run, equally often. Messages and collectives of all groups,
    including those that are made meanwhile, take the time that they would take there. The cluster's
    `slow` and `lost` have no effect: that is left to the program.

    Args:
        clock: this rank's clock, by which links are busy and free; by default the machine's.

    Returns:
        The link between nodes. Its `transfers` are the default group's collectives.

    Raises:
        ValueError: the cluster has another number of ranks than the run.
        NotARank: this process is not a rank of this library.
    """
    from torch.distributed import distributed_c10d as c10d

    from distlab.rank import group_maker, process_group

    group = _default_group()
    if cluster.size != group.size():
        raise ValueError(f"{group.size()} ranks are no cluster of {cluster}")
    link = Link(cluster.between.latency, cluster.between.bandwidth)
    ports = _ports(group, cluster, clock or Clock(steady=False))
    groups = [g for g in c10d._world.pg_map if isinstance(g, process_group.RecordedGroup)]
    with contextlib.ExitStack() as stack:
        stack.callback(ports.close)

        def hold(group: RecordedGroup) -> None:
            stack.enter_context(_held([group], link, ports, _RINGS | _OTHERS, cluster))

        for one in groups:
            hold(one)
        stack.callback(setattr, group_maker, "made", group_maker.made)
        group_maker.made = hold
        yield link


def _default_group() -> RecordedGroup:
    from torch.distributed import distributed_c10d as c10d

    from distlab.rank.process_group import RecordedGroup

    group = c10d._get_default_group() if c10d.is_initialized() else None
    if not isinstance(group, RecordedGroup) or "DISTLAB_RUN" not in os.environ:
        raise NotARank(
            "slow links are for ranks that `Ranks.run` started: write `with slow_links(…):` into a "
            "function that it runs"
        )
    return group


def _ports(group: RecordedGroup, cluster: Cluster, clock: Clock) -> Ports:
    """New ports, in files that no earlier context of this run has used."""
    group.slow_links += 1
    path = Path(os.environ["DISTLAB_RUN"]) / f"links-{group.slow_links}"
    return Ports(path, group.rank(), cluster, clock)


@contextlib.contextmanager
def _held(
    groups: Iterable[RecordedGroup], link: Link, ports: Ports,
    held: Mapping[str, tuple[str, int | None]], cluster: Cluster,
) -> Iterator[None]:  # fmt: skip
    """Put these groups on slow links, and take them off again."""
    real = {group: group._group for group in groups}
    for group, plain in real.items():
        name = str(plain.group_name)
        # torch numbers groups, or names those that members make alone by a hash
        number = int(name) if name.isdecimal() else zlib.crc32(name.encode())
        # `transfers` that the caller sees are those of the default group alone
        own = link if group._index == events.WORLD else replace(link, transfers=[])
        group._group = _SlowGroup(plain, own, ports, number, list(group._ranks), held, cluster)
    try:
        yield
    finally:
        for group, plain in real.items():
            group._group = plain
