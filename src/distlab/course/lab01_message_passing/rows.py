"""Inputs and hints of the exercises that make a matrix of all ranks' rows."""

from __future__ import annotations

import numpy as np

from distlab.exercises.exercise import Case, Hint, Look
from distlab.exercises.hints import shapes
from distlab.exercises.inputs import drawn_for


def _width(case: Case) -> int:
    return case.get("width", 3)


def row_of_each_rank(case: Case) -> list[dict]:
    return [{"row": drawn_for(case, rank, [_width(case)])} for rank in range(case.size)]


def _matrices(look: Look) -> list[np.ndarray]:
    return [got for got in look.returned if isinstance(got, np.ndarray) and got.ndim == 2]


def _own_row_left(look: Look) -> bool:
    """Is a rank's own row the only one that is wrong in its matrix?"""
    return look.size > 1 and any(
        isinstance(got, np.ndarray)
        and isinstance(want, np.ndarray)
        and got.shape == want.shape
        and not look.same(want[rank], got[rank])
        and look.same(np.delete(want, rank, 0), np.delete(got, rank, 0))
        for rank, (want, got) in enumerate(look.pairs())
    )


HINTS = (
    Hint(
        "nothing arrived",
        lambda look: any(got.size and not got.any() for got in _matrices(look)),
        "The matrix holds the zeros that its buffers began with: nothing had arrived in them yet. "
        "With async_op=True, wait for the request first.",
    ),
    Hint(
        "list of rows",
        lambda look: any(isinstance(got, (list, tuple)) for got in look.returned),
        "A list of rows is no matrix yet: torch.stack makes one of shape (size, width) of them.",
    ),
    Hint(
        "rows end to end",
        lambda look: look.size > 1 and (look.size * _width(look.case),) in shapes(look),
        "The rows stand end to end in one dimension: torch.cat joins along a dimension that is "
        "there, torch.stack makes a new one. (reshape helps too.)",
    ),
    Hint(
        "columns for rows",
        lambda look: any(
            any(look.same(want.T, got) for want in look.wanted if want is not None)
            for got in _matrices(look)
        ),
        "The ranks' rows became columns: rank r's row is row r of the result, dimension 0.",
    ),
    Hint(
        "one buffer size times",
        lambda look: (
            look.size > 1
            and any(
                want is not None and look.same(np.stack([want[-1]] * look.size), got)
                for want, got in look.pairs()
            )
        ),
        "All rows are the same one: `[tensor] * size` holds one tensor `size` times, and each "
        "row that arrives overwrites the one before. Make a new tensor for each row.",
    ),
    Hint(
        "own row not filled in",
        _own_row_left,
        "All rows have arrived, and the rank's own row is not among them: nobody sends it to "
        "itself, so copy it into the matrix.",
    ),
    Hint(
        "own row missing",
        lambda look: any(
            want is not None and shape == (look.size - 1, _width(look.case))
            for want, shape in zip(look.wanted, shapes(look), strict=True)
        ),
        "One row is missing: a rank's own row belongs into the matrix as well.",
    ),
    Hint(
        "rows in another order",
        lambda look: any(
            want is not None
            and isinstance(got, np.ndarray)
            and sorted(got.tolist()) == sorted(want.tolist())
            and got.tolist() != want.tolist()  # not another dtype alone
            for want, got in look.pairs()
        ),
        "All rows are there, in another order: the row of rank r is row r, whoever came first.",
    ),
)
