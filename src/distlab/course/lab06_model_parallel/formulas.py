"""How exactly a formula is judged."""

from __future__ import annotations

from distlab.exercises.compare import Tolerance

EXACT = Tolerance(rtol=1e-9, atol=0.0)
