"""Formulas for seconds: their arguments, and the well-known ways to miss them."""

from __future__ import annotations

from collections.abc import Callable

from distlab.exercises.compare import Tolerance
from distlab.exercises.exercise import Case, Hint, Look


def arguments(case: Case) -> list[dict]:
    return [dict(case.params)]


def call_formula(function, rank, size, inputs):
    return function(*inputs.values())


def link(n_bytes: float, size: int, latency: float, bandwidth: float) -> dict:
    return {"n_bytes": n_bytes, "size": size, "latency": latency, "bandwidth": bandwidth}


def instead(*formulas) -> Callable[[Look], bool]:
    """Did it give what one of these formulas gives?"""

    def shows(look: Look) -> bool:
        return any(
            look.same(float(formula(*look.inputs[0].values())), look.got[0]) for formula in formulas
        )

    return shows


HINTS = (
    Hint(
        "no plain number",
        lambda look: not isinstance(look.got[0], (int, float)),
        "Return a plain number of seconds: no tensor, no string, and not only a print.",
    ),
    Hint(
        "rounded",
        lambda look: 0 < abs(look.got[0] - look.expected[0]) < 1e-3 * abs(look.expected[0]),
        "This is nearly it: return the number as it comes out, not rounded and not by way of a "
        "float32 tensor.",
    ),
    Hint(
        "another unit",
        lambda look: any(
            look.same(look.expected[0] * factor, look.got[0]) for factor in (1e3, 1e6, 1e9)
        ),
        "The unit is seconds: latency comes in seconds, the bandwidth in bytes a second.",
    ),
)
BITS = Hint(
    "bits or products",
    instead(
        lambda n, size, a, b: 2 * (size - 1) * (a + 8 * n / (size * b)),
        lambda n, size, a, b: 2 * (size - 1) * (a + n / size * b),
        lambda n, size, a, b: 2 * (size - 1) * 8 * n / b + 2 * a,
        lambda n, size, a, b: 2 * (size - 1) * n * b + 2 * a,
    ),
    "Check the units: bytes divided by bytes a second are seconds. No 8 is needed.",
)
EXACT = Tolerance(rtol=1e-9, atol=0.0)
