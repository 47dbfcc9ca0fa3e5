"""`scatter_rows`: the rows of one rank's matrix, one for each rank."""

from __future__ import annotations

import numpy as np

from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.hints import everywhere, shapes


def _matrix_on_src(case: Case) -> list[dict]:
    src, width = case.params["src"], case.get("width", 3)
    matrix = case.draw(src, (case.size, width))
    return [
        {"matrix": matrix if rank == src else None, "src": src, "width": width}
        for rank in range(case.size)
    ]


def _shuffled(look: Look) -> bool:
    """The same rows on other ranks? (Those that are right but for their dtype are in place.)"""
    right, found = ([row.tolist() for row in rows] for rows in (look.wanted, look.returned))
    return found != right and sorted(found) == sorted(right)


exercise = Exercise(
    points=2,
    make=_matrix_on_src,
    asks="In scatter_rows, rank r returns row r of the matrix that rank src has, a tensor of shape "
    "(width,).",
    visible=(Case(2, 1, {"src": 0}), Case(4, 2, {"src": 3, "width": 2})),
    traffic=(),
    hints=(
        Hint(
            "two dimensions",
            lambda look: (1, look.case.get("width", 3)) in shapes(look),
            "A row has one dimension: matrix[i] has shape (width,), while matrix[i:i + 1], split "
            "and chunk keep two.",
        ),
        Hint(
            "whole matrix",
            lambda look: any(
                shape and len(shape) == 2 and shape[0] == look.size for shape in shapes(look)
            ),
            "The whole matrix arrived where one row is asked for.",
        ),
        Hint(
            "nothing arrived",
            lambda look: any(
                isinstance(got, np.ndarray) and got.size and not got.any() for got in look.returned
            ),
            "A rank returned the zeros that its buffer began with: nothing was received into it.",
        ),
        Hint(
            "same row everywhere",
            lambda look: any(everywhere(look, row) for row in look.wanted),
            "Every rank has the same row: rank r takes row r, so the sender has to name another "
            "row for each rank.",
        ),
        Hint(
            "another rank's row",
            _shuffled,
            "Every row arrived somewhere, but not on its own rank: row r belongs to rank r, also "
            "on src itself, and whatever src is.",
        ),
    ),
)
