"""Exercises that compute one number from a few: how they are called, and the hints on them."""

from __future__ import annotations

from typing import Any

import numpy as np

from distlab.exercises.compare import Tolerance
from distlab.exercises.exercise import Case, Hint, Look

EXACT = Tolerance(rtol=1e-9, atol=1e-12)


def arguments(case: Case) -> list[dict]:
    return [dict(case.params) for _ in range(case.size)]


def call(function, rank, size, inputs):
    return function(*inputs.values())


def case_of(**params: Any) -> Case:
    return Case(1, 0, params)


def gives(value):
    """A sign: the function returned `value(parameters of the case)`, and that is not right."""

    def shows(look: Look) -> bool:
        got, params = look.got[0], look.case.params
        return isinstance(got, (int, float)) and bool(
            np.isclose(got, value(**params), rtol=1e-9, atol=0)
        )

    return shows


NO_NUMBER = Hint(
    "no plain number",
    lambda look: look.got[0] is not None and not isinstance(look.got[0], (int, float)),
    "Return a plain Python number: here nothing needs a tensor.",
)
