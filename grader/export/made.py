"""A file for another system, and what has to be said about it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from grader.export.matching import Matched
from grader.export.points import Result
from grader.export.sheet import Sheet, listed


@dataclass
class Made:
    """A file to write.

    Args:
        said: sentences on what is missing from it, or not as one would expect.
        complete: all results that were asked for are in it.
        without: the labs that were asked for and for which it has no column.
    """

    sheet: Sheet
    said: list[str] = field(default_factory=list)
    complete: bool = True
    without: Collection[str] = ()


def by_student(results: Sequence[Result]) -> dict[str, dict[str, Result]]:
    """{student: {lab: result}}."""
    found: dict[str, dict[str, Result]] = defaultdict(dict)
    for one in results:
        found[one.student][one.lab] = one
    return dict(found)


def unmatched(matched: Matched, rows: Mapping[int, str], file: str) -> list[str]:
    """Sentences on students who are missing from the file, and on those found only there.

    Args:
        rows: number of a row → the name of its student.
    """
    said = []
    if matched.missing:
        said.append(f"Graded, but not in {file}: {listed(matched.missing)}.")
    said += matched.unclear.values()
    taken: Collection[int] = set(matched.rows.values())
    if left := [name for row, name in rows.items() if row not in taken]:
        said.append(f"In {file}, but nothing graded is theirs: {listed(left)}.")
    return said
