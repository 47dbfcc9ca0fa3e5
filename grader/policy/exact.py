"""Points without rounding errors: each number is what it is written as, in decimals."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

CENT = Fraction(1, 100)  # the smallest difference in points that the policy makes


def exact(points: float) -> Fraction:
    """The decimal number that a float is written as: 0.1 is one tenth."""
    return Fraction(repr(float(points)))


def total(points: Iterable[float]) -> float:
    """The sum of points, not off by what binary fractions cannot hold."""
    return float(sum(map(exact, points), Fraction()))


def less(points: float, taken: float) -> float:
    """What is left of points, never below zero."""
    return float(max(exact(points) - exact(taken), Fraction()))
