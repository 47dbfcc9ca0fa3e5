"""What the two formulas for seconds share: the arguments of a case, and hints."""

from __future__ import annotations

from distlab.exercises.exercise import Hint
from distlab.exercises.formulas import gives, right_but


def link(n_bytes: float, size: int, latency: float, bandwidth: float) -> dict:
    return {"n_bytes": n_bytes, "size": size, "latency": latency, "bandwidth": bandwidth}


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
        "float32 tensor. On the way nothing is rounded either, as // and math.ceil do.",
    ),
    Hint(
        "another unit",
        right_but(lambda e: 1e3 * e, lambda e: 1e6 * e, lambda e: 1e9 * e),
        "The unit is seconds: latency comes in seconds, the bandwidth in bytes a second.",
    ),
)
BITS = Hint(
    "bits or products",
    gives(
        lambda n, size, a, b: 2 * (size - 1) * (a + 8 * n / (size * b)),
        lambda n, size, a, b: 2 * (size - 1) * (a + n / size * b),
        lambda n, size, a, b: 2 * (size - 1) * 8 * n / b + 2 * a,
        lambda n, size, a, b: 2 * (size - 1) * n * b + 2 * a,
    ),
    "Check the units: bytes divided by bytes a second are seconds. No 8 is needed.",
)
