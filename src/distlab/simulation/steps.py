"""Algorithms as steps that all ranks take, moved all at once: fast enough for any cluster.

In a step some ranks send one message each (or several), some receive, and a rank begins its next
step when its own messages of this one are out and in. Ranks are not kept together otherwise: one
that is early goes on. But a port takes messages in the order of the steps, also where one of a
later step is there first; `replay` takes them as they come.

A step that is taken many times in a row is followed until it moves all its ranks and ports on by
the same time. What comes after depends on differences of times alone, so each further round takes
just as long, and the rest is multiplied out: a ring of 1,000 ranks costs a few rounds, not 1,998.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from distlab.simulation.network import Cluster


@dataclass(frozen=True, eq=False)
class Pattern:
    """Who sends to whom: message i goes from rank `src[i]` to rank `dst[i]`. Arrays of ints.

    What a cluster makes of it is worked out once, so that steps with the same messages should share
    one.
    """

    src: np.ndarray
    dst: np.ndarray


@dataclass(frozen=True)
class Step:
    """One step of an algorithm.

    Args:
        pattern: its messages; `None` where ranks compute only.
        n_bytes: of each message, one number or an array.
        seconds: that each rank computes before it sends, one number or an array by rank.
    """

    pattern: Pattern | None
    n_bytes: float | np.ndarray = 0.0
    seconds: float | np.ndarray = 0.0


def run_steps(steps: Iterable[Step], cluster: Cluster) -> np.ndarray:
    """When each rank has taken all steps, in seconds after the start.

    `inf` for a rank that waits for one that was lost.
    """
    ready = np.zeros(cluster.size)
    slowness, network = cluster.slowness(), _Network(cluster)
    dies = np.full(cluster.size, np.inf)
    for rank, moment in cluster.lost.items():
        dies[rank] = moment
    for step, times in _repeated(steps):
        taken = 0
        busy: np.ndarray | None = None
        while taken < times:
            before, was_busy = ready.copy(), busy
            if np.any(step.seconds):
                ready += step.seconds * slowness
            if cluster.lost:
                ready[ready > dies] = np.inf
            if step.pattern is not None:
                network.carry(step.pattern, step.n_bytes, ready)
            taken += 1
            if taken == times or step.pattern is None or cluster.lost:
                continue
            busy = network.busy(step.pattern)
            if was_busy is None:
                continue
            ranks = slice(None) if np.any(step.seconds) else network.ranks(step.pattern)
            moved = np.concatenate([(ready - before)[ranks], busy - was_busy])
            if len(moved) and np.ptp(moved) <= _EVEN * moved[0]:
                ready[ranks] += moved[0] * (times - taken)
                network.later(step.pattern, moved[0] * (times - taken))
                break
    return ready


#: what is left of a difference of times that are equal but for rounding, as a share of them
_EVEN = 1e-9


def _repeated(steps: Iterable[Step]) -> Iterator[tuple[Step, int]]:
    """Each step, and how many times it is taken in a row. Equal steps must be one object."""
    kept, times = None, 0
    for step in steps:
        if step is kept:
            times += 1
            continue
        if kept is not None:
            yield kept, times
        kept, times = step, 1
    if kept is not None:
        yield kept, times


class _Network:
    """The ports of a cluster and when each is free again."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._out, self._in = np.zeros(cluster.ports), np.zeros(cluster.ports)
        self._routes: dict[int, tuple[Pattern, _Route]] = {}

    def carry(self, pattern: Pattern, n_bytes: float | np.ndarray, ready: np.ndarray) -> None:
        """Send the messages of a pattern; moves `ready` on."""
        route = self._route(pattern)
        duration = route.per_byte * n_bytes
        posted = ready[pattern.src]
        sent = _queue(route.out, route.out_alone, posted, duration, self._out)
        there = sent - duration + route.latency
        through = _queue(route.into, route.in_alone, there, duration, self._in)
        if route.src_alone:
            ready[pattern.src] = sent
        else:
            np.maximum.at(ready, pattern.src, sent)
        if route.dst_alone:
            ready[pattern.dst] = np.maximum(ready[pattern.dst], through)
        else:
            np.maximum.at(ready, pattern.dst, through)

    def _route(self, pattern: Pattern) -> _Route:
        if id(pattern) not in self._routes:  # the pattern is kept, so that its id stays its own
            self._routes[id(pattern)] = pattern, _Route(pattern, self._cluster)
        return self._routes[id(pattern)][1]

    def ranks(self, pattern: Pattern) -> np.ndarray:
        """Those that send or receive in it."""
        return self._route(pattern).ranks

    def busy(self, pattern: Pattern) -> np.ndarray:
        """Until when each of the pattern's ports is busy."""
        route = self._route(pattern)
        return np.concatenate([self._out[route.out_ports], self._in[route.in_ports]])

    def later(self, pattern: Pattern, seconds: float) -> None:
        """Let the pattern's ports be busy for longer."""
        route = self._route(pattern)
        self._out[route.out_ports] += seconds
        self._in[route.in_ports] += seconds


class _Route:
    """What a cluster makes of a pattern."""

    def __init__(self, pattern: Pattern, cluster: Cluster) -> None:
        self.latency, self.per_byte, self.out, self.into = cluster.links(pattern.src, pattern.dst)
        self._pattern = pattern
        self.out_alone, self.in_alone, self.src_alone, self.dst_alone = (
            int(np.bincount(some).max(initial=0)) <= 1
            for some in (self.out, self.into, pattern.src, pattern.dst)
        )

    @functools.cached_property
    def out_ports(self) -> np.ndarray:
        """The ports that are sent from, once each."""
        return self.out if self.out_alone else np.unique(self.out)

    @functools.cached_property
    def in_ports(self) -> np.ndarray:
        """The ports that are received at, once each."""
        return self.into if self.in_alone else np.unique(self.into)

    @functools.cached_property
    def ranks(self) -> np.ndarray:
        """Those that send or receive."""
        return np.union1d(self._pattern.src, self._pattern.dst)


def _queue(
    ports: np.ndarray, alone: bool, come: np.ndarray, duration: np.ndarray, free: np.ndarray
) -> np.ndarray:
    """When each message has passed its port, which takes one at a time in the order they come.

    `alone`: no two want the same port. `free` is moved on.
    """
    if alone:
        done: np.ndarray = np.maximum(come, free[ports]) + duration
        free[ports] = done
        return done
    order = np.lexsort((come, ports))
    bounds = np.flatnonzero(np.diff(ports[order], prepend=-1, append=-1))
    end = np.empty(len(ports))
    if len(bounds) - 1 < np.diff(bounds).max():  # few ports, each with many messages
        for first, last in zip(bounds, bounds[1:], strict=False):
            chosen = order[first:last]
            total = np.cumsum(duration[chosen])
            since = np.maximum.accumulate(come[chosen] - (total - duration[chosen]))
            end[chosen] = np.maximum(since, free[ports[chosen[0]]]) + total
            free[ports[chosen[0]]] = end[chosen[-1]]
        return end
    place = np.arange(len(order)) - np.repeat(bounds[:-1], np.diff(bounds))
    for turn in range(place.max() + 1):
        chosen = order[place == turn]
        end[chosen] = np.maximum(come[chosen], free[ports[chosen]]) + duration[chosen]
        free[ports[chosen]] = end[chosen]
    return end
