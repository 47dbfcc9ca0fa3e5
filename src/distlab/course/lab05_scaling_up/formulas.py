"""One number from a few: cases, how exactly answers are judged, and a hint."""

from __future__ import annotations

from typing import Any

from distlab.exercises.compare import Tolerance
from distlab.exercises.exercise import Case, Hint

#: also around 0, where a warm-up may begin
EXACT = Tolerance(rtol=1e-9, atol=1e-12)


def case_of(**params: Any) -> Case:
    return Case(1, 0, params)


NO_NUMBER = Hint(
    "no plain number",
    lambda look: look.got[0] is not None and not isinstance(look.got[0], (int, float)),
    "Return a plain Python number, no tensor and no text.",
)
