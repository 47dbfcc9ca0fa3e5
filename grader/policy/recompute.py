"""From the ledger to the gradebook and the feedback pages, without running anybody's code.

What a new due date, an extension, a group or another rule on points changes is computed from what
is known: verdicts in the ledger, times of handing in, points given by hand. What comes out the same
is not written again.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection
from pathlib import Path
from typing import Any

import nbformat

from distlab import course as labs
from distlab.checking.submission import Plan
from grader.coursedir import GRADES, NotGraded
from grader.judging import grade as grading
from grader.judging.ledger import Entry, Ledger, Line
from grader.plugins import preprocessors
from grader.plugins.gradebook import Gradebook
from grader.plugins.release import put_notice
from grader.policy.pages import Pages
from grader.policy.settle import set_due_dates


class LedgerAlone:
    """Judges that judge nothing: what is not in the ledger has to be graded."""

    slots = 1

    def beside(self) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()

    def lines(self, lab: str, plan: Plan) -> list[Line]:
        raise NotGraded(f"it has to be judged first: run `distlab grade {lab}`")

    def close(self) -> None: ...


class Recomputing:
    """Brings the gradebook and the pages up to date with the policy.

    Args:
        submitted: where the submissions lie.
    """

    def __init__(self, submitted: Path = grading.SUBMITTED) -> None:
        self._submitted, self._book = submitted, Gradebook(submitted)
        self._ledger = Ledger(GRADES / "ledger")
        self._pages = Pages(self._book, self._ledger)
        self.policy, self.roster = self._pages.policy, self._pages.roster

    def everybody(self, chosen: Collection[str] = ()) -> tuple[int, list[str]]:
        """Recompute these labs, or all; how many pages were written, and what could not be done."""
        problems = [said for lab in chosen or labs.LABS for said in self._groups(lab)]
        for lab in (chosen or labs.LABS) if self.policy.in_force else ():
            put_notice(self._book.outbound / lab, lab, self.policy)
        with self._book.database() as database:
            set_due_dates(database, self.policy)
            students = [student.id for student in database.students]
        written = 0
        for student in students:
            pages, said = self.student(student, chosen)
            written, problems = written + pages, problems + said
        return written, problems

    def student(self, student: str, chosen: Collection[str] = ()) -> tuple[int, list[str]]:
        """Recompute a student's submissions; pages of these labs, or of all, are written where
        they show something else now.
        """
        with self._book.database() as database:
            scored = [self._rescore(database, lab, student) for lab in labs.LABS]
        written, problems = self._pages.refresh(student, chosen)
        return written, [said for said in scored if said] + problems

    def _rescore(self, database: Any, lab: str, student: str) -> str:
        """Give the points that the policy has now for the verdicts that the gradebook has; returns
        what is in the way.
        """
        entry = self._ledger.latest(lab, student)
        path = self._book.autograded(lab, student) / labs.notebook_name(lab)
        if entry is None or not path.exists():
            return ""
        grades = {
            grade.name: grade
            for one in database.find_student(student).submissions
            if one.assignment.name == lab
            for notebook in one.notebooks
            for grade in notebook.grades
        }
        scored = self.policy.lab(lab).partial.entry(entry)
        lines = {f"test_{line.name}": line for line in scored.lines}
        other = [
            n for n, line in lines.items() if n in grades and grades[n].auto_score != line.score
        ]
        if not other:
            return ""
        notebook = nbformat.read(path, as_version=4)
        if not _holds(notebook, entry):
            return f"{student}'s {lab} has other verdicts by now: run `distlab grade {lab}`"
        for cell in notebook.cells:
            name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
            if name in other:
                cell.outputs = preprocessors.outputs(lines[name])
                cell.metadata["distlab"] = preprocessors.told(lines[name])
        _write(path, nbformat.writes(notebook))
        for name in other:
            grades[name].auto_score = lines[name].score
        database.db.commit()
        return ""

    def _groups(self, lab: str) -> list[str]:
        """Enter what a group's members have together, and take back what left members had."""
        groups = self.roster.groups.get(lab, ())
        problems = self._take_back(lab)
        for member in (member for group in groups for member in group):
            with contextlib.suppress(grading.NothingSubmitted):
                graded = grading.grade(lab, self._submitted, member, LedgerAlone())
                problems += [f"{member}'s {lab}: {one.problem}" for one in graded if one.problem]
        return problems

    def _take_back(self, lab: str) -> list[str]:
        """Whoever is in no group any more has what is their own, or nothing."""
        problems = []
        for student in self._ledger.sharing(lab):
            entry = self._ledger.latest(lab, student)
            if entry is None or entry.by in self.roster.members(lab, student):
                continue
            try:
                graded = grading.grade(lab, self._submitted, student, LedgerAlone())
                problems += [
                    f"{student} still has the points of {entry.by}'s {lab}: {one.problem}"
                    for one in graded
                    if one.problem
                ]
            except grading.NothingSubmitted:
                self._book.remove(lab, student)
                self._ledger.remove(lab, student)
        return problems


def _holds(notebook: Any, entry: Entry) -> bool:
    """Was this notebook made of these verdicts, whatever points there were for them?"""
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


def _write(path: Path, text: str) -> None:
    temporary = path.with_name(f".{path.name}.tmp")
    temporary.write_text(text, "utf-8")
    os.replace(temporary, path)
