"""How long a collective takes on a simulated cluster when all its members have called it.

As the usual libraries do them: rings where every rank ends with as much as it gave, binomial trees
to or from a root, and nothing else on the network meanwhile.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np

from distlab.simulation import algorithms
from distlab.simulation.cost_model import Link
from distlab.simulation.network import Cluster
from distlab.simulation.steps import Pattern, Step, run_steps

#: what a `Cluster` is made of, which can be hashed
_Network = tuple[int, int, Link, Link, int]


def seconds_of(
    op: str, n_bytes: int, root: int | None, members: tuple[int, ...], cluster: Cluster
) -> float:
    """Seconds from the last call to the end.

    Args:
        op: as records name it.
        n_bytes: that each member hands in.
        root: the rank that gives or takes all, where there is one.
    """
    network = (cluster.nodes, cluster.gpus, cluster.inside, cluster.between, cluster.adapters)
    return _seconds(op, n_bytes, root, members, network)


@functools.lru_cache(maxsize=4096)
def _seconds(
    op: str, n_bytes: int, root: int | None, members: tuple[int, ...], network: _Network
) -> float:
    first = members.index(root) if root in members else 0
    ranks = np.array(members[first:] + members[:first])
    steps = (
        (Pattern(ranks[pattern.src], ranks[pattern.dst]), size)
        for pattern, size in _messages(_steps(op, len(members), n_bytes))
    )
    cluster = Cluster(*network)
    return float(run_steps(_shared(steps), cluster)[ranks].max())


def _messages(steps: Iterator[Step]) -> Iterator[tuple[Pattern, float | np.ndarray]]:
    """Who sends to whom in each step, and how much."""
    return ((step.pattern, step.n_bytes) for step in steps if step.pattern is not None)


def _shared(steps: Iterator[tuple[Pattern, float | np.ndarray]]) -> Iterator[Step]:
    """These steps, equal patterns being one."""
    kept: dict[tuple[bytes, bytes], Pattern] = {}
    for pattern, n_bytes in steps:
        key = (pattern.src.tobytes(), pattern.dst.tobytes())
        yield Step(kept.setdefault(key, pattern), n_bytes)


def _steps(op: str, size: int, n_bytes: float) -> Iterator[Step]:
    around = list(algorithms.ring(size, n_bytes))
    tree = list(algorithms.tree(size, n_bytes))
    if op == "all_reduce":
        return iter(around)
    if op == "reduce_scatter":
        return iter(around[: size - 1])
    if op == "all_gather":  # each hands in one piece
        return (Step(step.pattern, n_bytes) for step in around[: size - 1])
    if op == "all_to_all":
        ranks = np.arange(size)
        return (Step(Pattern(ranks, (ranks + k) % size), n_bytes / size) for k in range(1, size))
    if op == "reduce":
        return iter(tree[: len(tree) // 2])
    if op == "broadcast":
        return iter(tree[len(tree) // 2 :])
    if op in ("gather", "scatter"):
        push, answer = algorithms.parameter_server(size, n_bytes) if size > 1 else (None, None)
        return iter([step for step in (push if op == "gather" else answer,) if step])
    if op == "barrier":
        return iter(algorithms.tree(size, 0))
    return iter(())  # a new group is no traffic
