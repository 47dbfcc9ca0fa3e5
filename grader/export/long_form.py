"""Everything there is, one row for each cell: for spreadsheets, pandas, and other systems."""

from __future__ import annotations

from collections.abc import Sequence

from grader.export.made import Made
from grader.export.points import Result, hundredths
from grader.export.sheet import Sheet, cell

#: the first ones are the cell's, the rest is the whole lab's and the same in each of its rows
HEADER = [
    "student", "lab", "cell", "points", "max_points", "given_by", "waits", "comment",
    "lab_points", "late_penalty", "final_points", "lab_max_points", "handed_in",
]  # fmt: skip


def make(results: Sequence[Result]) -> Made:
    """The whole of it."""
    return Made(Sheet(list(HEADER), [row for one in results for row in _rows(one)]))


def _rows(one: Result) -> list[list[str]]:
    when = f"{one.handed_in:%Y-%m-%dT%H:%M:%SZ}" if one.handed_in else ""
    lab = [hundredths(of) for of in (one.points, one.penalty, one.final, one.most)]
    return [
        [
            cell(one.student), one.lab, cell(each.name),
            "" if each.points is None else hundredths(each.points), hundredths(each.most),
            each.by, "yes" if each.waits else "no", cell(each.comment), *lab, when,
        ]
        for each in one.cells
    ]  # fmt: skip
