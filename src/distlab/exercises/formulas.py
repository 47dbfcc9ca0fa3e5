"""Exercises whose answer is a formula: a few numbers in, one out, and nothing to communicate."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from distlab.exercises.compare import Tolerance
from distlab.exercises.exercise import Case, Exercise, Hint, Look

EXACT = Tolerance(rtol=1e-9, atol=0.0)


def case_of(**params: Any) -> Case:
    """A case of these arguments."""
    return Case(1, 0, params)


def arguments(case: Case) -> list[dict[str, Any]]:
    """The case's own parameters, in their order."""
    return [dict(case.params)]


def as_given(function: Callable[..., Any], rank: int, size: int, inputs: dict[str, Any]) -> Any:
    """Call a function that has neither rank nor size."""
    return function(*inputs.values())


def call(function: Callable[..., Any], rank: int, size: int, inputs: dict[str, Any]) -> Any:
    """The same where a float is asked for: an exact number is as good as one."""
    given = as_given(function, rank, size, inputs)
    return float(given) if isinstance(given, (Fraction, Decimal)) else given


def formula(hints: tuple[Hint, ...] = (), **about: Any) -> Exercise:
    """An exercise whose function gets the parameters of its case; there is no process group."""
    given = {"make": arguments, "call": call, "tolerance": EXACT, "group": False, "formula": True}
    return Exercise(**{**given, **about, "hints": (A_BOOL, IN_SINGLE, MOVED, *hints, NO_NUMBER)})


def gives(*formulas: Callable[..., float]) -> Callable[[Look], bool]:
    """A hint's `shows`: did the function give what one of these makes of its arguments?"""
    return lambda look: any(_is(made(*look.inputs[0].values()), look.got[0]) for made in formulas)


def right_but(*changes: Callable[[float], float]) -> Callable[[Look], bool]:
    """A hint's `shows`: did it give the right number, changed in one of these ways?"""
    return lambda look: any(_is(change(look.expected[0]), look.got[0]) for change in changes)


def off_by(most: float) -> Callable[[Look], bool]:
    """A hint's `shows`: did it give a number that is less than this from the right one?"""
    return lambda look: _number(look.got[0]) and abs(look.got[0] - look.expected[0]) < most


def _number(value: Any) -> bool:
    return isinstance(value, (int, float))


def _is(number: float, got: Any, rtol: float = EXACT.rtol) -> bool:
    return _number(got) and math.isclose(number, got, rel_tol=rtol)


def _in_single(look: Look) -> bool:
    """Is it right to the digits of float32, and one of its numbers? (Its relative error is 6e-8 an
    operation. Whole numbers are left out: they may be rounded otherwise.)
    """
    got = look.got[0]
    return (
        isinstance(got, float)
        and not got.is_integer()
        and float(np.float32(got)) == got
        and _is(look.expected[0], got, rtol=1e-6)
    )


A_BOOL = Hint(
    "bool for number", lambda look: isinstance(look.got[0], bool),
    "True and False are no numbers here. (`n > 1 and n / 2` is False, not 0, where n is 1.)",
)  # fmt: skip
IN_SINGLE = Hint(
    "single precision", _in_single,
    "Only about seven digits are right: that is float32, which torch makes of Python's numbers. "
    "Work with plain numbers, or with dtype=torch.float64.",
)  # fmt: skip
NO_NUMBER = Hint(
    "no plain number",
    lambda look: _number(look.expected[0])
    and not _number(look.got[0])
    and look.got[0] is not None,
    "Return a plain Python number, no tensor and no text.",
)  # fmt: skip


def _moved(look: Look) -> bool:
    """Has the function the arguments of the lab in another order?"""
    if not isinstance(look.answer, (ast.FunctionDef, ast.Lambda)):
        return False
    names, given = [one.arg for one in look.answer.args.args], list(look.inputs[0])
    return names != given and sorted(names) == sorted(given)


MOVED = Hint(
    "arguments in another order", _moved,
    "The function is called with its arguments in the order of the lab's first line: put them back "
    "into that order.",
)  # fmt: skip
