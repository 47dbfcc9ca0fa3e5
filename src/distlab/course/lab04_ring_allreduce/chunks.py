"""What the exercises on rings share: random numbers, and how a list of chunks is handed over."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from distlab.exercises.exercise import Case


def drawn(case: Case, rank: int, shape: Sequence[int]) -> np.ndarray:
    """Random numbers; `times` makes whole ones larger than floats can tell apart."""
    numbers: np.ndarray = case.draw(rank, shape, case.get("dtype", "float32"))
    return numbers * case.get("times", 1)


def in_place(function, rank, size, chunks) -> tuple[list, str]:
    """Call it; returns the tensors that the list held before, and what became of the list."""
    before = list(chunks)
    function(rank, size, chunks)
    same = len(chunks) == size and all(a is b for a, b in zip(chunks, before, strict=True))
    return before, "as it was" if same else "changed"
