"""Algorithms as steps that all ranks take, computed for all ranks at once: fast for any cluster.

In a step some ranks send one or several messages, some receive. A rank begins its next step when
the messages that it sent have left and their receivers have asked for them, and those that it
receives are in. Ranks are not synchronised otherwise: one that is early goes on. But a port takes
messages in the order of the steps, even if one of a later step is there first; `replay` takes them
as they come.

A ring of 100,000 ranks takes 200,000 steps, all alike. When taking the same step (the same object)
again has moved every time by the same amount, every further repetition will: what a step does does
not depend on when it begins. Those repetitions are computed in one go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from distlab.simulation.network import Cluster

_ALIKE = 1e-9  # relative: shifts that differ by less are equal, since sums of times are rounded
_TOGETHER = 9  # decimals of seconds to which arrivals are rounded: rounding must decide no order


@dataclass(frozen=True, eq=False)
class Pattern:
    """Who sends to whom: message i goes from rank `src[i]` to rank `dst[i]`. Arrays of ints.

    Its routes through a cluster are worked out once for each object, so steps with the same
    messages should share one.
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
    machine = _Machine(cluster)
    for step, times in in_a_row(steps):
        machine.take(step, times)
    return machine.ready


def in_a_row(steps: Iterable[Step]) -> Iterator[tuple[Step, int]]:
    """Each step, and how many times in a row the same object comes."""
    last, times = None, 0
    for step in steps:
        if step is last:
            times += 1
            continue
        if last is not None:
            yield last, times
        last, times = step, 1
    if last is not None:
        yield last, times


class _Machine:
    """The ranks and the ports of a cluster.

    `ready`: when each rank has taken the steps so far.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.ready = np.zeros(cluster.size)
        self._cluster, self._slowness = cluster, cluster.slowness()
        self._dies = np.full(cluster.size, np.inf)
        for rank, moment in cluster.lost.items():
            self._dies[rank] = moment
        self._out, self._in = np.zeros(cluster.ports), np.zeros(cluster.ports)
        self._routes: dict[int, tuple[Pattern, _Route]] = {}

    def take(self, step: Step, times: int) -> None:
        """Take a step so many times.

        From time to time, ever more rarely, the state is kept, and later states are compared with
        it (Brent, "An improved Monte Carlo factorization algorithm", 1980). So a pattern that
        repeats every few steps is found too, as in a ring that goes from node to node.
        """
        kept, since, patience = None, 0, 1
        while times:
            self._once(step)
            times, since = times - 1, since + 1
            if self._cluster.lost or not times:
                continue
            shift = None if kept is None else self._shift(step, kept)
            if shift is not None:
                self._move(step, times // since * shift)
                times, kept, since, patience = times % since, None, 0, times + 1
            elif since >= patience:
                kept, since, patience = self._state(step), 0, 2 * patience

    def _once(self, step: Step) -> None:
        if np.any(step.seconds):
            self.ready += step.seconds * self._slowness
        if self._cluster.lost:
            self.ready[self.ready > self._dies] = np.inf
        if step.pattern is not None:
            self._carry(self._route(step.pattern), step.n_bytes)

    def _moved(self, step: Step) -> tuple[tuple[np.ndarray, np.ndarray | slice], ...]:
        """What a step moves: arrays, and where in them."""
        if step.pattern is None:
            return ((self.ready, slice(None)),)
        route = self._route(step.pattern)
        ranks = slice(None) if np.any(step.seconds) else route.ranks
        return (self.ready, ranks), (self._out, route.out), (self._in, route.into)

    def _state(self, step: Step) -> list[np.ndarray]:
        return [np.array(whole[where]) for whole, where in self._moved(step)]

    def _shift(self, step: Step, kept: list[np.ndarray]) -> float | None:
        """By how much all that the step moves has moved since `kept`; `None` if not equally."""
        by = None
        for (whole, where), before in zip(self._moved(step), kept, strict=True):
            if not len(before):
                continue
            few = slice(None, None, max(1, len(before) // 16))  # most differ in these
            indices = few if isinstance(where, slice) else where[few]
            for now, then in ((whole[indices], before[few]), (whole[where], before)):
                moved = now - then
                by = float(moved[0]) if by is None else by
                if not np.abs(moved - by).max() <= _ALIKE * by:
                    return None
        return by

    def _move(self, step: Step, by: float) -> None:
        for whole, where in self._moved(step):
            # an adapter that several messages use is listed several times, and still moves once
            whole[where] = whole[where] + by

    def _route(self, pattern: Pattern) -> _Route:
        if id(pattern) not in self._routes:  # the pattern is kept, so that its id stays its own
            self._routes[id(pattern)] = pattern, _Route(pattern, self._cluster)
        return self._routes[id(pattern)][1]

    def _carry(self, route: _Route, n_bytes: float | np.ndarray) -> None:
        """Send the messages of a pattern; moves `ready` on."""
        ready, pattern = self.ready, route.pattern
        duration = route.per_byte * n_bytes
        posted, asked = ready[pattern.src], ready[pattern.dst]
        sent = _queue(route.out, route.out_alone, posted, duration, self._out)
        there = sent - duration + route.latency
        through = _queue(route.into, route.in_alone, there, duration, self._in)
        sent = np.maximum(sent, asked)
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
        self.pattern = pattern
        takes_part = np.zeros(cluster.size, bool)
        takes_part[pattern.src] = takes_part[pattern.dst] = True
        self.ranks = np.flatnonzero(takes_part)
        self.latency, self.per_byte, self.out, self.into = cluster.links(pattern.src, pattern.dst)
        self.out_alone, self.in_alone, self.src_alone, self.dst_alone = (
            np.bincount(some, minlength=1).max() <= 1
            for some in (self.out, self.into, pattern.src, pattern.dst)
        )


def _queue(
    ports: np.ndarray, alone: bool, come: np.ndarray, duration: np.ndarray, free: np.ndarray
) -> np.ndarray:
    """When each message has passed its port. A port takes one at a time, in the order in which they
    come; of those that come together, the one with the lowest number first.

    Args:
        alone: no two messages use the same port.
        free: when each port is free, which is updated.
    """
    if alone:
        done: np.ndarray = np.maximum(come, free[ports]) + duration
        free[ports] = done
        return done
    order = np.lexsort((np.round(come, _TOGETHER), ports))
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
