"""`model_flops_utilization`: which share of the peak the model's own arithmetic takes."""

from __future__ import annotations

from distlab.course.lab05_scaling_up.formulas import EXACT, ROUNDED
from distlab.exercises import hints
from distlab.exercises.exercise import Hint
from distlab.exercises.formulas import case_of, formula, gives, right_but


def _operations(number: int):
    """A hint's `shows`: were so many operations counted for each parameter and token?"""
    return gives(lambda parameters, tokens, peak: number * parameters * tokens / peak)


exercise = formula(
    points=1,
    asks="model_flops_utilization returns which share of `peak_flops` the model's own arithmetic "
    "takes, 6 floating-point operations for each parameter and token.",
    visible=(
        case_of(parameters=1_000_000, tokens_per_second=50_000.0, peak_flops=1e12),
        case_of(parameters=7e9, tokens_per_second=3_400.0, peak_flops=312e12),
    ),
    hints=(
        hints.NOTHING,
        Hint(
            "percent",
            _operations(600),
            "A share is asked for, 1 being all of the peak, not a percentage.",
        ),
        Hint(
            "forward alone",
            _operations(2),
            "2 operations for each parameter and token are the forward pass: the backward pass "
            "takes twice as many again.",
        ),
        Hint(
            "backward alone",
            _operations(4),
            "4 operations for each parameter and token are the backward pass alone.",
        ),
        Hint(
            "multiplications alone",
            _operations(3),
            "A multiplication and an addition are two operations, and peaks count both.",
        ),
        Hint(
            "recomputation counted",
            _operations(8),
            "With activation recomputation a machine does 8 operations for each parameter and "
            "token. That is hardware utilization: what the model needs is 6, however it is done.",
        ),
        Hint(
            "no factor",
            _operations(1),
            "How many operations does each parameter take part in for one token, forward and "
            "backward?",
        ),
        Hint(
            "upside down",
            right_but(lambda e: 1 / e),
            "The fraction stands on its head: what was done comes before what could be done.",
        ),
        Hint(
            "tokens divided",
            gives(lambda parameters, tokens, peak: 6 * parameters / tokens / peak),
            "More tokens a second use the machine better: they multiply.",
        ),
        Hint(
            "whole numbers only",
            lambda look: look.got[0] == look.expected[0] // 1 == 0,
            "// rounds down, and a share is less than 1.",
        ),
        Hint(
            "cut off at 1",
            lambda look: look.got[0] == 1 and look.expected[0] > 1,
            "A share above 1 is told as it is: it says that a figure is wrong, such as the peak.",
        ),
        ROUNDED,
    ),
    tolerance=EXACT,
)
