"""`gather_rows`: all ranks' rows as a matrix on one rank."""

from __future__ import annotations

from distlab.course.lab01_message_passing.on_dst import dst_hints, not_none_elsewhere
from distlab.course.lab01_message_passing.rows import HINTS, row_of_each_rank
from distlab.exercises.compare import KEEPS_FLOAT64
from distlab.exercises.exercise import Case, Exercise

_ELSEWHERE = "Only dst collects the rows: on every other rank the answer is None."


def _row_and_dst(case: Case) -> list[dict]:
    return [{**own, "dst": case.params["dst"]} for own in row_of_each_rank(case)]


exercise = Exercise(
    points=2,
    make=_row_and_dst,
    asks="In gather_rows, rank dst returns all rows as a tensor of shape (size, width), row r from "
    "rank r; the others return None.",
    tolerance=KEEPS_FLOAT64,
    visible=(Case(2, 1, {"dst": 0}), Case(4, 2, {"dst": 1, "width": 2})),
    traffic=(),
    hints=(
        *dst_hints(_ELSEWHERE),
        *HINTS,
        not_none_elsewhere(_ELSEWHERE),
    ),
)
