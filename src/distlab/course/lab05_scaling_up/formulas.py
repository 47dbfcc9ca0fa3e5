"""What the formulas of lab 05 share: how exactly answers are judged, and hints."""

from __future__ import annotations

import struct

from distlab.exercises.compare import Tolerance
from distlab.exercises.exercise import Hint, Look
from distlab.exercises.formulas import right_but

#: also around 0, where a warm-up may begin
EXACT = Tolerance(rtol=1e-9, atol=1e-12)


def _float32(number: float) -> float:
    return struct.unpack("f", struct.pack("f", number))[0]


_by_little = right_but(_float32, *(lambda e, n=n: round(e, n) for n in range(2, 9)))


def _nearly(look: Look) -> bool:
    return bool(look.got[0]) and _by_little(look)


ROUNDED = Hint(
    "rounded",
    _nearly,
    "This is nearly it: return the number as it comes out, not rounded and not by way of a "
    "float32 tensor.",
)
