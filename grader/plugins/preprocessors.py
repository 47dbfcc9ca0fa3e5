"""The course's own steps in nbgrader's conversions; `nbgrader_config.py` names them."""

from __future__ import annotations

import atexit
import functools
import textwrap
from pathlib import Path

import nbformat
from nbformat.v4 import new_output
from nbgrader import preprocessors
from nbgrader.api import Gradebook as Database

from distlab import course
from grader.judging import basis, handed_in
from grader.judging.ledger import Line
from grader.judging.referee import Referee
from grader.looks import answering, code
from grader.looks.diary import Diary
from grader.plugins.rows import CourseRows, SubmittedRows
from grader.policy import partial
from grader.policy import policy as policies
from grader.policy.roster import RosterFile
from grader.policy.settle import settle
from grader.reports import picture


class ClearSolutions(preprocessors.ClearSolutions):
    """nbgrader's own, with a stub that says which exercise is still to do."""

    def preprocess_cell(self, cell, resources, cell_index):
        name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        self.code_stub = {"python": f'raise NotImplementedError("TODO {name}")'}
        return super().preprocess_cell(cell, resources, cell_index)


class Points(preprocessors.NbGraderPreprocessor):
    """Write into each test cell what its exercise is worth: the exercise alone says so."""

    def preprocess(self, nb, resources):
        exercises = course.exercises(resources["nbgrader"]["assignment"])
        for cell in nb.cells:
            grading = cell.metadata.get("nbgrader", {})
            exercise = exercises.get(grading.get("grade_id", "").removeprefix("test_"))
            if exercise is not None and grading.get("grade"):
                grading["points"] = exercise.points
        return nb, resources


class Rebuild(preprocessors.NbGraderPreprocessor):
    """Put a submission's answers into the course's own notebook; nothing else of it is kept."""

    def preprocess(self, nb, resources):
        lab = resources["nbgrader"]["assignment"]
        submitted = Path(resources["metadata"]["path"])
        rebuilt, repaired = referee().rebuild(lab, handed_in.with_modules(submitted, nb))
        for what in repaired:
            self.log.warning("%s: %s", resources["nbgrader"]["student"], what)
        rebuilt = nbformat.from_dict(rebuilt)
        rebuilt.metadata["repaired"] = repaired
        return rebuilt, resources


class OverwriteCells(preprocessors.OverwriteCells, CourseRows):
    """nbgrader's own, with one query of the gradebook for all cells."""


class Verdicts(preprocessors.NbGraderPreprocessor):
    """In place of a kernel: each test cell gets the referee's verdict as its output.

    nbgrader reads the score of a test cell off its outputs, so the score is the ledger's, whatever
    the student's code does.
    """

    def preprocess(self, nb, resources):
        about = resources["nbgrader"]
        repaired = nb.metadata.pop("repaired", [])
        whose = about["assignment"], about["student"]
        unread = referee().found_unreadable(*whose, nb)
        entry = unread or referee().judge(*whose, nb, repaired)
        nb.metadata["distlab"] = {"repaired": entry.repaired}
        if unread is not None:
            nb.metadata["distlab"]["unreadable"] = unread.unreadable
            nb.cells[0].metadata["tags"] = ["unreadable"]
        scored = policies.current().lab(about["assignment"]).partial.entry(entry)
        for cell in nb.cells:
            name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
            if cell.cell_type == "code" and name.startswith("test_"):
                line = scored.line(name.removeprefix("test_"))
                cell.outputs = outputs(line) if line is not None else []
                if line is not None:
                    cell.metadata["distlab"] = told(line)
                cell.execution_count = 1
        return nb, resources


class SaveAutoGrades(preprocessors.SaveAutoGrades, SubmittedRows):
    """nbgrader's own, together with the answers to requests for a second look.

    nbgrader keeps points by hand when a submission is graded again, and marks them to be looked at
    again; here not if they answered a request about this very code. A submission that the gradebook
    does not have (any more) gets them back from the answers.
    """

    _answers: dict[str, tuple[float | None, str]]

    def preprocess(self, nb, resources):
        about = resources["nbgrader"]
        sources = {
            cell.metadata.get("nbgrader", {}).get("grade_id", ""): code.digest(cell.source)
            for cell in nb.cells
        }
        self._answers = answering.standing(
            Diary().read(), about["student"], about["assignment"], sources
        )
        return super().preprocess(nb, resources)

    def _add_score(self, cell, resources):
        name = cell.metadata["nbgrader"]["grade_id"]
        points, _ = self._answers.get(name.removeprefix("test_"), (None, ""))
        grade = self._grade(name)
        if _is_new(grade):
            grade.manual_score = points
        super()._add_score(cell, resources)
        if points is not None and grade.manual_score == points:
            grade.needs_manual_grade = False
            self.gradebook.db.commit()

    def _add_comment(self, cell, resources):
        super()._add_comment(cell, resources)
        name = cell.metadata["nbgrader"]["grade_id"]
        _, said = self._answers.get(name, (None, ""))
        if said and _is_new(self._grade(f"test_{name}")):
            comment = self.gradebook.find_comment(
                name, self.notebook_id, self.assignment_id, self.student_id
            )
            comment.manual_comment = comment.manual_comment or said
            self.gradebook.db.commit()

    def _grade(self, name):
        return self.gradebook.find_grade(
            name, self.notebook_id, self.assignment_id, self.student_id
        )


def _is_new(grade):
    """Is this submission new to the gradebook?"""
    return grade.auto_score is None and grade.manual_score is None


class AssignLatePenalties(preprocessors.AssignLatePenalties):
    """Due dates, extensions and penalties as `policy.yaml` has them; nbgrader's own without it."""

    def preprocess(self, nb, resources):
        policy = policies.current()
        if not policy.in_force:
            return super().preprocess(nb, resources)
        about = resources["nbgrader"]
        with Database(about["db_url"]) as database:
            settle(database, about["student"], policy, RosterFile().read())
        return nb, resources


def outputs(line: Line) -> list[nbformat.NotebookNode]:
    """A verdict as the outputs of a test cell: text if it passed; if it has a part of the points, a
    number as the cell's result, which nbgrader takes for partial credit; else an error.
    """
    points = f"{line.score:g} of {line.max_score:g} points"
    if line.status == "passed":
        return [_text(f"{line.name}: passed, {points}")]
    head = f"{line.name}: {line.status}, {points}."
    told = textwrap.wrap(line.message, 100)
    said = f"{head} {line.message}"
    if line.score:
        result = {"text/plain": repr(line.score)}
        shown = [
            _text("\n".join([head, *told, partial.told(line)])),
            new_output("execute_result", result, execution_count=1),
        ]
    else:
        shown = [new_output("error", ename=line.status, evalue=said, traceback=[head, *told])]
    if line.picture:
        shown.append(new_output("display_data", {"text/html": picture.image(line.picture)}))
    return shown


def told(line: Line) -> dict[str, str]:
    """A verdict as the feedback page needs it (`grader.reports.feedback`)."""
    said = {
        "exercise": line.name, "status": line.status, "expected": line.expected,
        "happened": line.happened or line.message, "look": line.look,
    }  # fmt: skip
    return {**said, "part": part} if (part := partial.told(line)) else said


def _text(said: str) -> nbformat.NotebookNode:
    made: nbformat.NotebookNode = new_output("display_data", {"text/plain": said})
    return made


@functools.cache
def referee() -> Referee:
    """This process's referee, kept because nbgrader makes new preprocessors for each notebook. The
    formgrader's server has it for weeks.
    """
    basis.begin(course.LABS)
    made = Referee()
    atexit.register(made.close)
    return made
