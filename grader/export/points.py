"""What the gradebook holds for each student and lab, with the penalty that the policy gives.

nbgrader's database is only read, in one transaction: that takes a fraction of a second for a class,
also while others grade.
"""

from __future__ import annotations

import contextlib
import datetime
import functools
import sqlite3
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from distlab import course
from grader import gradebook_file
from grader.export.sheet import Unusable
from grader.policy import exact as decimals
from grader.policy import lateness, settle
from grader.policy.lateness import UTC, Lateness
from grader.policy.roster import Roster
from grader.policy.rules import Policy

_GRADES = """
SELECT s.student_id, a.name, s.timestamp, n.id, n.late_submission_penalty, c.name,
       g.auto_score, g.manual_score, g.extra_credit, g.needs_manual_grade,
       coalesce(graded.max_score, task.max_score, 0)
FROM grade g
JOIN submitted_notebook n ON n.id = g.notebook_id
JOIN submitted_assignment s ON s.id = n.assignment_id
JOIN assignment a ON a.id = s.assignment_id
JOIN base_cell c ON c.id = g.cell_id
LEFT JOIN grade_cells graded ON graded.id = c.id
LEFT JOIN task_cells task ON task.id = c.id
ORDER BY s.student_id, a.name, n.id, c.name
"""
_COMMENTS = """
SELECT m.notebook_id, c.name, m.manual_comment
FROM comment m JOIN base_cell c ON c.id = m.cell_id
WHERE trim(coalesce(m.manual_comment, '')) <> ''
ORDER BY m.notebook_id, c.name
"""
_exact = functools.lru_cache(maxsize=10_000)(decimals.exact)
_points = functools.lru_cache(maxsize=10_000)(settle.points)


@dataclass(frozen=True)
class Cell:
    """A cell that has points, or a comment by hand.

    Args:
        points: `None` where there are none yet, and in a cell that gives none.
        most: the maximum.
        by: who gave the points: "automatic" or "by hand"; empty where nobody did.
        waits: it is still to be graded by hand.
    """

    name: str
    points: Fraction | None = None
    most: Fraction = Fraction()
    by: str = ""
    waits: bool = False
    comment: str = ""


@dataclass
class Result:
    """What a student has for a lab.

    Args:
        handed_in: in UTC; `None` where that is not known.
        penalty: what is taken off for lateness.
    """

    student: str
    lab: str
    handed_in: datetime.datetime | None
    cells: list[Cell] = field(default_factory=list)
    penalty: Fraction = Fraction()

    @property
    def points(self) -> Fraction:
        """All points that there are so far, by hand included."""
        return sum((cell.points or Fraction() for cell in self.cells), Fraction())

    @property
    def final(self) -> Fraction:
        """The points less the penalty, which takes off no more than there is."""
        return max(self.points - self.penalty, min(self.points, Fraction()))

    @property
    def most(self) -> Fraction:
        return sum((cell.most for cell in self.cells), Fraction())

    @property
    def waits(self) -> bool:
        """Is some of it still to be graded by hand?"""
        return any(cell.waits for cell in self.cells)

    @property
    def comments(self) -> list[str]:
        """The comments that people wrote, one for each cell that has one."""
        return [cell.comment for cell in self.cells if cell.comment]


def hundredths(points: Fraction) -> str:
    """Points with two decimals, halves rounded away from zero."""
    cents = int((abs(points) * 100 + Fraction(1, 2)) // 1)
    return f"{'-' if points < 0 and cents else ''}{cents // 100}.{cents % 100:02}"


@dataclass
class _Notebook:
    """What is read of one submitted notebook."""

    result: Result
    penalty: Fraction  # that the gradebook has
    cells: dict[str, Cell] = field(default_factory=dict)

    @property
    def points(self) -> Fraction:
        return sum((cell.points or Fraction() for cell in self.cells.values()), Fraction())


def read(path: Path, policy: Policy, roster: Roster) -> list[Result]:
    """All results of the course's labs, sorted by student, then in the order of labs.

    Args:
        path: of nbgrader's gradebook.

    Raises:
        Unusable: it is not there, or cannot be read.
        NotWritten: it is damaged, or of another version.
    """
    if not path.exists() or not path.stat().st_size:
        raise Unusable("nothing was graded yet: run `distlab grade` first")
    try:
        with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as database:
            database.execute("BEGIN")  # both queries see the same state
            notebooks = _notebooks(database)
    except sqlite3.Error as error:
        if (said := gradebook_file.unusable(str(error), path)) is not None:
            raise said from error
        raise Unusable(
            f"the gradebook {path} cannot be read ({error}): if others are grading, say it again"
        ) from error
    return _settled(notebooks, policy, roster)


def _notebooks(database: sqlite3.Connection) -> list[_Notebook]:
    found: dict[str, _Notebook] = {}
    results: dict[tuple[str, str], Result] = {}
    for student, lab, when, key, penalty, name, automatic, by_hand, extra, waits, most in (
        database.execute(_GRADES)
    ):  # fmt: skip
        if lab not in course.LABS:
            continue
        if key not in found:
            result = results.setdefault((student, lab), Result(student, lab, _moment(when)))
            found[key] = _Notebook(result, _exact(penalty or 0.0))
        unknown = automatic is None and by_hand is None
        found[key].cells[name] = Cell(
            name, None if unknown else _points(automatic, by_hand, extra), _exact(most),
            "" if unknown else "automatic" if by_hand is None else "by hand", bool(waits),
        )  # fmt: skip
    for key, name, comment in database.execute(_COMMENTS):
        if key in found:
            cell = found[key].cells.get(name, Cell(name))
            found[key].cells[name] = Cell(
                name, cell.points, cell.most, cell.by, cell.waits, _lines(comment)
            )
    return list(found.values())


def _moment(when: str | None) -> datetime.datetime | None:
    return datetime.datetime.fromisoformat(when).replace(tzinfo=UTC) if when else None


def _lines(comment: str) -> str:
    """With one kind of line break: some importers take the first kind for the end of a row."""
    return "\n".join(comment.strip().splitlines())


def _settled(notebooks: Collection[_Notebook], policy: Policy, roster: Roster) -> list[Result]:
    """The results with their penalties, as `settle` computes them."""
    each: dict[str, dict[str, Result]] = {}
    for one in notebooks:
        each.setdefault(one.result.student, {})[one.result.lab] = one.result
    late = {student: _lateness(of, policy, roster) for student, of in each.items()}
    for one in notebooks:
        result = one.result
        result.cells += one.cells.values()
        if policy.in_force:
            how = late[result.student][result.lab]
            result.penalty += how.penalty(one.points, policy.lab(result.lab).late)
        else:  # a penalty that stock nbgrader has entered
            result.penalty += one.penalty
    return list(_ordered(each))


def _lateness(of: dict[str, Result], policy: Policy, roster: Roster) -> dict[str, Lateness]:
    """{lab: lateness} of a student, with free late days shared out over all labs."""
    late = {
        lab: lateness.lateness(
            roster.due(policy, lab, result.student), result.handed_in, policy.lab(lab).late,
            policy.zone,
        )
        for lab, result in of.items()
    }  # fmt: skip
    return settle.share_out(policy, late)


def _ordered(each: dict[str, dict[str, Result]]) -> Iterator[Result]:
    for student in sorted(each):
        yield from (each[student][lab] for lab in course.LABS if lab in each[student])
