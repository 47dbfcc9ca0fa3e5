"""Ways to sum a tensor over all ranks, as steps of messages. `n_bytes` are those of the tensor.

Ring: Patarasuk and Yuan (2009). Tree, halving and doubling: Thakur, Rabenseifner and Gropp (2005).
Hierarchical: a ring inside each node, rings between nodes of the ranks in the same place, as NCCL
and Horovod do it. The time to add is left out, as in `distlab.simulation.cost_model`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from distlab.simulation.network import Cluster
from distlab.simulation.steps import Pattern, Step


def ring(size: int, n_bytes: float) -> Iterator[Step]:
    """Reduce-scatter, then all-gather, each in size − 1 steps of a size-th of the tensor."""
    ranks = np.arange(size)
    step = Step(Pattern(ranks, (ranks + 1) % size), n_bytes / size)
    for _ in range(2 * (size - 1)):
        yield step


def tree(size: int, n_bytes: float) -> Iterator[Step]:
    """A reduce along a binomial tree to rank 0, and a broadcast the same way back."""
    rounds = [Pattern(*pair) for pair in _binomial(size)]
    for pattern in rounds:
        yield Step(pattern, n_bytes)
    for pattern in reversed(rounds):
        yield Step(Pattern(pattern.dst, pattern.src), n_bytes)


def _binomial(size: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    distance = 1
    while distance < size:
        src = np.arange(distance, size, 2 * distance)
        yield src, src - distance
        distance *= 2


def halving_doubling(size: int, n_bytes: float) -> Iterator[Step]:
    """Recursive halving, a reduce-scatter, then recursive doubling, an all-gather.

    Raises:
        ValueError: `size` is no power of two.
    """
    if size & (size - 1):
        raise ValueError(f"recursive halving wants a power of two ranks, not {size}")
    ranks = np.arange(size)
    rounds = []
    distance, part = size // 2, n_bytes / 2
    while distance:
        rounds.append(Step(Pattern(ranks, ranks ^ distance), part))
        distance, part = distance // 2, part / 2
    yield from rounds
    yield from reversed(rounds)


def hierarchical(cluster: Cluster, n_bytes: float) -> Iterator[Step]:
    """Rings inside the nodes, rings between them for each place in a node, rings inside again."""
    ranks, gpus = np.arange(cluster.size), cluster.gpus
    inside = Pattern(ranks, ranks // gpus * gpus + (ranks + 1) % gpus)
    between = Pattern(ranks, (ranks + gpus) % cluster.size)
    near = Step(inside, n_bytes / gpus)
    far = Step(between, n_bytes / cluster.size)
    for _ in range(gpus - 1):
        yield near
    for _ in range(2 * (cluster.nodes - 1)):
        yield far
    for _ in range(gpus - 1):
        yield near


def parameter_server(size: int, n_bytes: float) -> Iterator[Step]:
    """All ranks push to rank 0, which then answers all."""
    workers = np.arange(1, size)
    server = np.zeros(size - 1, int)
    yield Step(Pattern(workers, server), n_bytes)
    yield Step(Pattern(server, workers), n_bytes)
