"""`all_gather_rows`: all ranks' rows as a matrix on every rank."""

from __future__ import annotations

import numpy as np

from distlab.course.lab01_message_passing.rows import HINTS, row_of_each_rank
from distlab.exercises.compare import KEEPS_FLOAT64
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.hints import brought


def _gathered_once(look: Look) -> bool:
    """Did the rows go to one rank, and nothing else anywhere?"""
    calls = {(event.op, event.peer) for event in look.events()}
    return look.size > 1 and len(calls) == 1 and bool(look.events("gather"))


exercise = Exercise(
    points=2,
    make=row_of_each_rank,
    asks="In all_gather_rows, every rank returns all rows as a tensor of shape (size, width), row "
    "r from rank r.",
    tolerance=KEEPS_FLOAT64,
    visible=(Case(2, 1), Case(4, 2, {"width": 2})),
    traffic=(),
    hints=(
        Hint(
            "on one rank only",
            lambda look: (
                0 < sum(got is None for got in look.returned) < look.size or _gathered_once(look)
            ),
            "Not every rank has all rows, as is asked for here. (gather gives them to one rank "
            "alone.)",
        ),
        Hint(
            "own row only",
            lambda look: (
                look.size > 1
                and all(
                    look.same(own, got) or look.same(np.stack([own] * look.size), got)
                    for own, got in zip(brought(look), look.returned, strict=True)
                )
            ),
            "Each rank has its own row alone: the others' have to arrive.",
        ),
        *HINTS,
    ),
)
