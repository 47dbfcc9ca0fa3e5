"""What communication costs: a model of two numbers, fitted to what was measured.

A message of n bytes takes α + n/β seconds: the latency α, whatever it carries, and its bytes at the
bandwidth β (Hockney, "The communication challenge for MPP", 1994; many texts write β for the time
of a byte). Formulas for a tree and for recursive halving and doubling are those of Thakur,
Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH" (2005),
without the time to add.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from distlab.records.events import RankRecord


@dataclass(frozen=True)
class Link:
    """What connects two ranks: `latency` in seconds, `bandwidth` in bytes a second."""

    latency: float
    bandwidth: float

    def message_time(self, n_bytes: float) -> float:
        """Seconds that a message of `n_bytes` takes."""
        return self.latency + n_bytes / self.bandwidth

    def __str__(self) -> str:
        return f"latency {self.latency * 1e6:.3g} µs, bandwidth {self.bandwidth / 1e9:.3g} GB/s"


def fit(n_bytes: Sequence[float], seconds: Sequence[float]) -> Link:
    """The link that explains the times of messages best.

    Least squares of the *relative* errors: small messages, which alone show the latency, would
    weigh nothing beside large ones otherwise.

    Args:
        n_bytes: sizes of messages, of at least two different ones.
        seconds: what each took, above 0.

    Raises:
        ValueError: too few sizes, a time that is not above 0, or times that do not grow with size.
    """
    sizes, times = np.asarray(n_bytes, float), np.asarray(seconds, float)
    if sizes.shape != times.shape or len(set(sizes.tolist())) < 2:
        raise ValueError("a fit needs the times of messages of at least two sizes")
    if not (times > 0).all():
        raise ValueError("a message takes more than 0 s")
    relative = np.stack([1 / times, sizes / times], axis=1)
    (latency, per_byte), *_ = np.linalg.lstsq(relative, np.ones(len(times)), rcond=None)
    if latency < 0:  # noise: the best link whose latency is not negative has none
        latency, per_byte = 0.0, float(np.sum(sizes / times) / np.sum((sizes / times) ** 2))
    if per_byte <= 0:
        raise ValueError("larger messages took no longer: measure larger ones")
    return Link(float(latency), float(1 / per_byte))


def tree_time(n_bytes: float, size: int, latency: float, bandwidth: float) -> float:
    """Seconds of an all-reduce along a binomial tree: a reduce to its root, a broadcast from it.

    Args:
        bandwidth: in bytes a second, as in all formulas here.
    """
    return 2 * math.ceil(math.log2(size)) * (latency + n_bytes / bandwidth)


def halving_doubling_time(n_bytes: float, size: int, latency: float, bandwidth: float) -> float:
    """Seconds of an all-reduce by recursive halving and doubling.

    Raises:
        ValueError: `size` is no power of two.
    """
    rounds = size.bit_length() - 1
    if size != 1 << rounds:
        raise ValueError(f"recursive halving wants a power of two ranks, not {size}")
    halves = sum(n_bytes / (1 << step) for step in range(1, rounds + 1))
    return 2 * (rounds * latency + halves / bandwidth)


def sent_bytes(records: Sequence[RankRecord]) -> list[dict[int, int]]:
    """For each rank the bytes that it sent in messages, by destination."""
    found = []
    for record in records:
        to: Counter[int] = Counter()
        for event in record.sends():
            assert event.peer is not None  # every send has one
            to[event.peer] += event.nbytes
        found.append(dict(sorted(to.items())))
    return found


def sent_shares(records: Sequence[RankRecord], n_bytes: int) -> list[Fraction]:
    """For each rank the bytes that it sent in messages over `n_bytes`, exactly."""
    return [Fraction(sum(to.values()), n_bytes) for to in sent_bytes(records)]
