"""Exercises whose answer is a formula: a few numbers in, one out, and nothing to communicate."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from distlab.exercises.compare import Tolerance
from distlab.exercises.exercise import Case, Exercise, Look

EXACT = Tolerance(rtol=1e-9, atol=0.0)


def case_of(**params: Any) -> Case:
    """A case of these arguments."""
    return Case(1, 0, params)


def arguments(case: Case) -> list[dict[str, Any]]:
    """The case's own parameters, in their order."""
    return [dict(case.params)]


def call(function: Callable[..., Any], rank: int, size: int, inputs: dict[str, Any]) -> Any:
    """Call a function that has neither rank nor size."""
    return function(*inputs.values())


def formula(**about: Any) -> Exercise:
    """An exercise whose function gets the parameters of its case; there is no process group."""
    given = {"make": arguments, "call": call, "tolerance": EXACT, "group": False, "formula": True}
    return Exercise(**{**given, **about})


def gives(*formulas: Callable[..., float]) -> Callable[[Look], bool]:
    """A hint's `shows`: did the function give what one of these makes of its arguments?"""
    return lambda look: any(_is(made(*look.inputs[0].values()), look.got[0]) for made in formulas)


def right_but(*changes: Callable[[float], float]) -> Callable[[Look], bool]:
    """A hint's `shows`: did it give the right number, changed in one of these ways?"""
    return lambda look: any(_is(change(look.expected[0]), look.got[0]) for change in changes)


def _is(number: float, got: Any) -> bool:
    return isinstance(got, (int, float)) and math.isclose(number, got, rel_tol=EXACT.rtol)
