"""From the ledger to the gradebook and the feedback pages, without running anybody's code.

After a new due date, an extension, a group or a change of rules, points are computed from what is
known: verdicts in the ledger, times of handing in, points given by hand. What comes out the same is
not written again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from pathlib import Path
from typing import Any

import nbformat

from distlab import course
from distlab.checking.submission import Plan
from grader import writing
from grader.coursedir import GRADES, GradingFailed, NotGraded
from grader.judging import grade
from grader.judging.ledger import Entry, Ledger, Line
from grader.looks.answering import Answering
from grader.looks.diary import Diary
from grader.plugins import preprocessors
from grader.plugins.gradebook import Gradebook, alone
from grader.policy.pages import Pages
from grader.policy.settle import set_due_dates


class LedgerAlone:
    """Judges that judge nothing: what is not in the ledger has to be graded first."""

    slots = 1

    def expect(self, lab: str) -> None: ...

    def beside(self) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()

    def lines(self, lab: str, plan: Plan, whose: str | None = None, lanes: int = 1) -> list[Line]:
        raise NotGraded(f"it has to be judged first: run `distlab grade {lab}`")

    def close(self) -> None: ...


class Recomputing:
    """Brings the gradebook and the pages up to date with the policy.

    Args:
        submitted: where the submissions lie.
    """

    def __init__(self, submitted: Path = grade.SUBMITTED) -> None:
        self._submitted, self._book = submitted, Gradebook(submitted)
        self._ledger = Ledger(GRADES / "ledger")
        self._pages = Pages(self._book, self._ledger)
        self.policy, self.roster = self._pages.policy, self._pages.roster
        self._fresh: set[tuple[str, str]] = set()  # pages of groups that were written

    def _notice(self, lab: str) -> list[str]:
        """Bring the notice in a released lab up to date; returns what could not be done."""
        try:
            self._book.exchange.notice(lab, self.policy)
        except GradingFailed as error:
            return [str(error)]
        return []

    def all(
        self, chosen: Collection[str] = (), students: Collection[str] | None = None
    ) -> tuple[int, list[str]]:
        """Recompute, once; returns how many pages were written, and what could not be done.

        Args:
            chosen: labs whose groups are entered, and that are brought up to date where they are
                handed out; all where none is named.
            students: all where it is `None`.
        """
        Answering(self._book, self._ledger, Diary()).enter_all()
        problems = []
        for lab in chosen or course.LABS:
            problems += self._groups(lab, students)
            if self.policy.in_force:
                problems += self._notice(lab)
        with self._book.database() as database:
            set_due_dates(database, self.policy)
            known = [student.id for student in database.students]
        for student in known:
            if students is None or student in students:
                problems += self.student(student)
        return len(self._fresh | self._pages.fresh), problems

    def student(self, student: str) -> list[str]:
        """Recompute all of a student's submissions, since a free late day that one lab takes is
        missing in another. Returns what could not be done.
        """
        # alone: the page of a submission that is being entered would be missing, or out of date
        with alone(), self._book.database() as database:
            found = database.find_student(student).submissions
            scored = [
                self._rescore(database, one) for one in found if one.assignment.name in course.LABS
            ]
        _, problems = self._pages.refresh(student)
        return [said for said in scored if said] + problems

    def _rescore(self, database: Any, submission: Any) -> str:
        """Bring the points for a submission's verdicts up to date with the policy, in the gradebook
        and in the graded notebook; returns what stands in the way.
        """
        lab, student = submission.assignment.name, submission.student.id
        entry = self._ledger.latest(lab, student)
        path = self._book.autograded(lab, student) / course.notebook_name(lab)
        if entry is None or not path.exists():
            return ""
        grades = {grade.name: grade for one in submission.notebooks for grade in one.grades}
        scored = self.policy.lab(lab).partial.entry(entry)
        lines = {f"test_{line.name}": line for line in scored.lines}
        other = [
            name
            for name, line in lines.items()
            if name in grades and grades[name].auto_score != line.score
        ]
        if not other:
            return ""
        try:
            notebook = nbformat.read(path, as_version=4)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):  # half of one, say
            return f"{student}'s {lab} cannot be read as it was graded: run `distlab grade {lab}`"
        if not _holds(notebook, entry):
            return f"{student}'s {lab} has other verdicts by now: run `distlab grade {lab}`"
        for cell in notebook.cells:
            name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
            if name in other:
                cell.outputs = preprocessors.outputs(lines[name])
                cell.metadata["distlab"] = preprocessors.told(lines[name])
        writing.whole(path, nbformat.writes(notebook) + "\n")  # as nbgrader does
        for name in other:
            grades[name].auto_score = lines[name].score
        database.db.commit()
        return ""

    def _groups(self, lab: str, students: Collection[str] | None) -> list[str]:
        """Enter what each group's members have in common. Those who have left a group have their
        own submission again, or none.
        """
        members = {name for group in self.roster.groups.get(lab, ()) for name in group}
        before = {name: self._ledger.latest(lab, name) for name in self._ledger.sharing(lab)}
        left = {
            name for name, entry in before.items()
            if entry is not None and entry.by not in self.roster.members(lab, name)
        }  # fmt: skip
        asked = members | left if students is None else (members | left) & set(students)
        entered = self._entered(lab, asked)
        for name in sorted((left & asked) - set(entered)):  # has handed in nothing
            self._book.remove(lab, name)
            self._ledger.remove(lab, name)
        return [f"{name}'s {lab}: {said}" for name, said in entered.items() if said]

    def _entered(self, lab: str, students: Collection[str]) -> dict[str, str]:
        """Enter what the ledger has; {student who has handed in: what stands in the way}."""
        if not students:
            return {}
        try:
            graded = grade.grade(lab, self._submitted, students, LedgerAlone(), fresh=self._fresh)
        except grade.NothingSubmitted:
            return {}
        return {one.entry.student: one.problem for one in graded}


def _holds(notebook: Any, entry: Entry) -> bool:
    """Does this graded notebook show these verdicts, whatever points were given for them?"""
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        line = entry.line(name.removeprefix("test_")) if name.startswith("test_") else None
        if line is not None:
            was = {
                key: said for key, said in cell.metadata.get("distlab", {}).items() if key != "part"
            }
            now = {key: said for key, said in preprocessors.told(line).items() if key != "part"}
            if was != now:
                return False
    return True
