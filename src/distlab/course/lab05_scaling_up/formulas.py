"""What the formulas of lab 05 share: how exactly answers are judged, and a hint."""

from __future__ import annotations

from distlab.exercises.compare import Tolerance
from distlab.exercises.exercise import Hint

#: also around 0, where a warm-up may begin
EXACT = Tolerance(rtol=1e-9, atol=1e-12)


NO_NUMBER = Hint(
    "no plain number",
    lambda look: look.got[0] is not None and not isinstance(look.got[0], (int, float)),
    "Return a plain Python number, no tensor and no text.",
)
