"""Algorithms as steps that all ranks take, moved all at once: fast enough for any cluster.

In a step some ranks send one message each (or several), some receive, and a rank begins its next
step when its own messages of this one are out and in. Ranks are not kept together otherwise: one
that is early goes on. But a port takes messages in the order of the steps, also where one of a
later step is there first; `replay` takes them as they come.
"""

from __future__ import annotations

from collections.abc import Iterable
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
    for step in steps:
        if np.any(step.seconds):
            ready += step.seconds * slowness
        if cluster.lost:
            ready[ready > dies] = np.inf
        if step.pattern is not None:
            network.carry(step.pattern, step.n_bytes, ready)
    return ready


class _Network:
    """The ports of a cluster and when each is free again."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._out, self._in = np.zeros(cluster.ports), np.zeros(cluster.ports)
        self._routes: dict[int, tuple[Pattern, _Route]] = {}

    def carry(self, pattern: Pattern, n_bytes: float | np.ndarray, ready: np.ndarray) -> None:
        """Send the messages of a pattern; moves `ready` on."""
        if id(pattern) not in self._routes:  # the pattern is kept, so that its id stays its own
            self._routes[id(pattern)] = pattern, _Route(pattern, self._cluster)
        route = self._routes[id(pattern)][1]
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


class _Route:
    """What a cluster makes of a pattern."""

    def __init__(self, pattern: Pattern, cluster: Cluster) -> None:
        self.latency, self.per_byte, self.out, self.into = cluster.links(pattern.src, pattern.dst)
        self.out_alone, self.in_alone, self.src_alone, self.dst_alone = (
            len(np.unique(some)) == len(some)
            for some in (self.out, self.into, pattern.src, pattern.dst)
        )


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
