"""Graded notebooks as pages: `nbgrader_config.py` and `grader.plugins.formgrader` name these.

`nbgrader generate_feedback`, the formgrader and `distlab grade` so write the same pages, made with
limits (`grader.reports.rendering`).
"""

from __future__ import annotations

from typing import Any

from nbconvert.exporters import Exporter
from nbconvert.preprocessors import Preprocessor
from nbgrader import preprocessors

from grader.looks import told
from grader.looks.diary import Diary
from grader.plugins.rows import SubmittedRows
from grader.policy import standing
from grader.reports import feedback, rendering

NOTEBOOK_LIMIT = 200_000  # characters of a notebook on a page; the longest lab has 70,000
_ABOUT = ("student", "assignment", "score", "max_score", "late_penalty")


class Grades(preprocessors.GetGrades, SubmittedRows):
    """nbgrader's own; it also says what waits for a person, what the policy makes of the points
    (penalties follow points given by hand since), and which second looks were asked and answered.
    """

    def preprocess(self, nb, resources):
        about = resources["nbgrader"]
        found = standing.of(about["db_url"], about["assignment"], about["student"])
        nb, resources = super().preprocess(nb, resources)
        if found is not None:
            about["score"] = float(found.settled.points - found.settled.penalty)
            about["late_penalty"] = float(found.settled.penalty)
            about["policy"] = found.said
        about["looks"] = told.on_page(Diary().read(), about["student"], about["assignment"])
        about["ask"] = told.line_to_ask(about["assignment"])
        return nb, resources

    def _get_score(self, cell, resources):
        super()._get_score(cell, resources)
        grade = self.gradebook.find_grade(
            cell.metadata["nbgrader"]["grade_id"],
            self.notebook_id, self.assignment_id, self.student_id,
        )  # fmt: skip
        cell.metadata.nbgrader["waits"] = bool(grade.needs_manual_grade)
        if grade.manual_score is not None and grade.auto_score is not None:
            cell.metadata.nbgrader["judged"] = grade.auto_score


class FeedbackExporter(Exporter):
    """A graded notebook as a page for the student who wrote it."""

    file_extension = ".html"

    def from_notebook_node(self, nb, resources=None, **kw):
        nb, resources = super().from_notebook_node(nb, resources, **kw)
        about = {name: resources["nbgrader"][name] for name in _ABOUT}
        about["policy"] = resources["nbgrader"].get("policy", [])
        about["looks"] = resources["nbgrader"].get("looks", {})
        about["ask"] = resources["nbgrader"].get("ask", "")
        return rendering.page("grader.reports.feedback:page", nb=nb, about=about), resources


class FormgradeExporter:
    """Makes the formgrader's page of one submission in a process of its own; nbgrader's exporter
    makes it in the process that serves everybody who grades.
    """

    def from_filename(self, filename: str, resources: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        made = rendering.page(
            "grader.plugins.formgrade:page", path=str(filename), resources=resources
        )
        return made, resources


class Shortened(Preprocessor):
    """Cuts cells and notebooks that nobody could read on one of nbgrader's own pages."""

    def preprocess(self, nb, resources):
        left = NOTEBOOK_LIMIT
        for cell in nb.cells:
            limit = max(0, min(left, feedback.CELL_LIMIT))
            left -= len(cell.source)
            if len(cell.source) > limit:
                rest = len(cell.source) - limit
                cell.source = f"{cell.source[:limit]}\n… {rest} more characters"
        return nb, resources
