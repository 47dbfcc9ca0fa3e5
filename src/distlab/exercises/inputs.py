"""Inputs of the usual kind: a different tensor for each rank."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from distlab.exercises.exercise import Case


def drawn_for(case: Case, rank: int, shape: list[int]) -> np.ndarray:
    """A rank's own array of the case's `dtype`; the case's `shift` is added to all elements."""
    drawn = case.draw(rank, shape, case.get("dtype", "float32"))
    return np.asarray(drawn + case.get("shift", 0), drawn.dtype)


def portable(values: np.ndarray, dtype: str) -> np.ndarray:
    """Inputs that were made with `exp`, powers or the like, whose last bits differ from processor
    to processor, without these bits: references recorded elsewhere must fit them.

    Args:
        dtype: the dtype of the result; float64 too has only the digits of float32.
    """
    return np.asarray(np.asarray(values, "float32"), dtype)


def tensor_per_rank(case: Case) -> list[dict[str, Any]]:
    """`tensor`: one of the case's `shape` for each rank."""
    shape = case.get("shape", [4])
    return [{"tensor": drawn_for(case, rank, shape)} for rank in range(case.size)]


def tensor_and(*names: str) -> Callable[[Case], list[dict[str, Any]]]:
    """A tensor of each rank's own, and these parameters of the case for all."""

    def make(case: Case) -> list[dict[str, Any]]:
        told = {name: case.params[name] for name in names}
        return [{**own, **told} for own in tensor_per_rank(case)]

    return make
