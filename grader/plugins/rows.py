"""A notebook's rows in the gradebook, read by one query and written by one transaction.

nbgrader's steps make a query and a transaction for each cell. A class derived from such a step and
from one of these has the rows of all cells at hand:

    class SaveAutoGrades(preprocessors.SaveAutoGrades, SubmittedRows): ...
"""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, TypeVar

from nbgrader import preprocessors
from nbgrader.api import (
    Assignment,
    BaseCell,
    Comment,
    Grade,
    GradeCell,
    MissingEntry,
    Notebook,
    SolutionCell,
    SourceCell,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
    TaskCell,
)
from nbgrader.api import Gradebook as Database
from sqlalchemy.orm import undefer

_Row = TypeVar("_Row")
GRADE = 6  # values in a row of `state` that is a grade; a comment's has two


def state(database: Database, assignment: str, student: str) -> list[list[Any]]:
    """All that the gradebook has of a submission as data, a row for each grade and comment."""
    asked = database.db.query(
        BaseCell.name, Grade.auto_score, Grade.manual_score, Grade.extra_credit, Grade.max_score,
        Grade.needs_manual_grade,
    )  # fmt: skip
    grades = [
        [*row[:-1], bool(row[-1])]
        for row in _in_submission(asked.join(Grade.cell), Grade, assignment, student)
    ]
    asked = database.db.query(BaseCell.name, Comment.manual_comment).join(Comment.cell)
    comments = [list(row) for row in _in_submission(asked, Comment, assignment, student)]
    return [*sorted(grades), *sorted(comments, key=str)]


def students(database: Database, assignment: str) -> set[str]:
    """Those who have a submission of an assignment."""
    asked = database.db.query(SubmittedAssignment.student_id).join(SubmittedAssignment.assignment)
    return {student for (student,) in asked.filter(Assignment.name == assignment)}


class SubmittedRows(preprocessors.NbGraderPreprocessor):
    """The second base class of a step that reads and sets a submission's grades and comments. What
    the step sets is written when all cells are done; if one fails, nothing is.
    """

    # nbgrader's step sets these
    gradebook: Any
    notebook_id: str
    assignment_id: str
    student_id: str

    def preprocess(self, nb, resources):
        database = self.gradebook
        about = self.notebook_id, self.assignment_id, self.student_id
        self.gradebook = _Submitted(database, *about)
        try:
            nb, resources = super().preprocess(nb, resources)
            database.db.commit()
        finally:
            self.gradebook = database
        return nb, resources


class CourseRows(preprocessors.NbGraderPreprocessor):
    """The same for a step that reads the cells of the course's own notebook, and sets nothing."""

    gradebook: Any
    notebook_id: str
    assignment_id: str

    def preprocess(self, nb, resources):
        database = self.gradebook
        self.gradebook = _Course(database, self.notebook_id, self.assignment_id)
        try:
            return super().preprocess(nb, resources)
        finally:
            self.gradebook = database


class _Submitted:
    """Stands in for nbgrader's gradebook, for one notebook of one submission."""

    def __init__(self, database: Database, notebook: str, assignment: str, student: str) -> None:
        def rows(kind: Any, *cells: str) -> dict[str, Any]:
            asked = database.db.query(BaseCell.type, BaseCell.name, kind).join(kind.cell)
            found = _in_submission(asked, kind, assignment, student)
            found = found.filter(Notebook.name == notebook).options(*_UNDEFERRED.get(kind, ()))
            return _by_name(found, *cells)

        self._grades = rows(Grade, GradeCell.__name__, TaskCell.__name__)
        self._comments = rows(Comment, SolutionCell.__name__, TaskCell.__name__)
        self.db = SimpleNamespace(commit=lambda: None)  # all at once, when the step is done

    def find_grade(self, name: str, *_: str) -> Grade:
        return _known(self._grades, name)

    def find_comment(self, name: str, *_: str) -> Comment:
        return _known(self._comments, name)


_UNDEFERRED = {Grade: (undefer(Grade.max_score),)}


def _in_submission(asked: Any, kind: Any, assignment: str, student: str) -> Any:
    """A query, narrowed to what belongs to a submission."""
    return (
        asked.join(SubmittedNotebook, SubmittedNotebook.id == kind.notebook_id)
        .join(Notebook, Notebook.id == SubmittedNotebook.notebook_id)
        .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .join(Student, Student.id == SubmittedAssignment.student_id)
        .filter(Assignment.name == assignment, Student.id == student)
    )


class _Course:
    """Stands in for nbgrader's gradebook, for one notebook of the course."""

    def __init__(self, database: Database, notebook: str, assignment: str) -> None:
        def rows(kind: Any) -> list[Any]:
            asked = database.db.query(kind).join(Notebook, Notebook.id == kind.notebook_id)
            asked = asked.join(Assignment, Assignment.id == Notebook.assignment_id)
            found = asked.filter(Notebook.name == notebook, Assignment.name == assignment)
            return list(found)

        self._source = {cell.name: cell for cell in rows(SourceCell)}
        graded = (*rows(TaskCell), *rows(GradeCell))  # of the same name nbgrader takes the latter
        self._graded = {cell.name: cell for cell in graded}

    def find_source_cell(self, name: str, *_: str) -> SourceCell:
        return _known(self._source, name)

    def find_graded_cell(self, name: str, *_: str) -> GradeCell | TaskCell:
        return _known(self._graded, name)


def _by_name(found: Any, first: str, second: str) -> dict[str, Any]:
    """Rows by the names of their cells; where two cells share a name, that of the `first` kind."""
    rows: dict[str, dict[str, Any]] = {first: {}, second: {}}
    for kind, name, row in found:
        rows[kind][name] = row
    return rows[second] | rows[first]


def _known(rows: Mapping[str, _Row], name: str) -> _Row:
    if name not in rows:
        raise MissingEntry(f"the gradebook has no cell {name}")
    return rows[name]
