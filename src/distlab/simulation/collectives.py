"""How long a collective takes on a simulated cluster once all its members have called it.

The algorithms are those of the usual libraries: rings for all-reduce, all-gather and
reduce-scatter, binomial trees for reduce and broadcast. Nothing else is on the network meanwhile.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from distlab.simulation import algorithms
from distlab.simulation.cost_model import Link
from distlab.simulation.network import Cluster
from distlab.simulation.steps import Pattern, Step, run_steps

#: what a `Cluster` is made of, which can be hashed
_Network = tuple[int, int, Link, Link, int]


def seconds_of(
    op: str, n_bytes: int, root: int | None, members: tuple[int, ...], cluster: Cluster,
    algorithm: str = "ring",
) -> float:  # fmt: skip
    """Seconds from the last call to the end.

    Args:
        op: as records name it.
        n_bytes: that each member hands in.
        root: the rank that gives or takes all, where there is one.
        algorithm: of an all-reduce, one of `ALL_REDUCES`; other operations are done as usual.

    Raises:
        ValueError: the algorithm cannot be run on so many ranks.
    """
    network = (cluster.nodes, cluster.gpus, cluster.inside, cluster.between, cluster.adapters)
    return _seconds(op, n_bytes, root, members, network, algorithm)


#: ways to do an all-reduce among equal ranks, by name
ALL_REDUCES: dict[str, Callable[[int, float], Iterator[Step]]] = {
    "ring": algorithms.ring,
    "tree": algorithms.tree,
    "halving and doubling": algorithms.halving_doubling,
    "parameter server": algorithms.parameter_server,
}


@functools.lru_cache(maxsize=4096)
def _seconds(
    op: str, n_bytes: int, root: int | None, members: tuple[int, ...], network: _Network,
    algorithm: str,
) -> float:  # fmt: skip
    first = members.index(root) if root in members else 0
    ranks = np.array(members[first:] + members[:first])
    if len(members) == 1:
        return 0.0
    cluster = Cluster(*network)
    steps = _steps(op, len(members), n_bytes, algorithm)
    if ranks.tolist() != list(range(len(ranks))):
        steps = _placed(steps, ranks)
    return float(run_steps(steps, cluster)[ranks].max())


def _placed(steps: Iterable[Step], ranks: np.ndarray) -> Iterator[Step]:
    """These steps with `ranks` in place of 0, 1, …; what was one object stays one object."""
    made: dict[int, tuple[Step, Step]] = {}  # by id, with what keeps that id its own
    patterns: dict[tuple[bytes, bytes], Pattern] = {}
    for step in steps:
        if id(step) not in made:
            pattern = step.pattern
            assert pattern is not None  # messages are all that a collective is made of
            src, dst = ranks[pattern.src], ranks[pattern.dst]
            placed = patterns.setdefault((src.tobytes(), dst.tobytes()), Pattern(src, dst))
            made[id(step)] = step, Step(placed, step.n_bytes)
        yield made[id(step)][1]


def _steps(op: str, size: int, n_bytes: float, algorithm: str) -> Iterable[Step]:
    if op == "all_reduce":
        return ALL_REDUCES[algorithm](size, n_bytes)
    if op == "reduce_scatter":
        return itertools.islice(algorithms.ring(size, n_bytes), size - 1)
    if op == "all_gather":  # each hands in one piece
        return itertools.islice(algorithms.ring(size, n_bytes * size), size - 1)
    if op == "all_to_all":
        ranks = np.arange(size)
        return (Step(Pattern(ranks, (ranks + k) % size), n_bytes / size) for k in range(1, size))
    if op in ("reduce", "broadcast"):
        tree = list(algorithms.tree(size, n_bytes))
        half = len(tree) // 2
        return tree[:half] if op == "reduce" else tree[half:]
    if op in ("gather", "scatter"):
        push, answer = algorithms.parameter_server(size, n_bytes)
        return [push if op == "gather" else answer]
    if op == "barrier":
        return algorithms.tree(size, 0)
    return ()  # a new group is no traffic
