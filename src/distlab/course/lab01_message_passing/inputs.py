"""A tensor of each rank's own, as most exercises of lab 01 take one."""

from __future__ import annotations

import numpy as np

from distlab.exercises.exercise import Case


def drawn_for(case: Case, rank: int, shape: list[int]) -> np.ndarray:
    """A rank's own tensor; `shift` moves all its elements, below zero, say."""
    drawn = case.draw(rank, shape, case.get("dtype", "float32"))
    return np.asarray(drawn + case.get("shift", 0), drawn.dtype)


def tensor_of_each_rank(case: Case) -> list[dict]:
    shape = case.get("shape", [4])
    return [{"tensor": drawn_for(case, rank, shape)} for rank in range(case.size)]


def tensor_and(*names: str):
    """A tensor of each rank's own, and these parameters of the case for all."""

    def make(case: Case) -> list[dict]:
        told = {name: case.params[name] for name in names}
        return [{**own, **told} for own in tensor_of_each_rank(case)]

    return make
