"""The feedback page of a submission: what was asked, what each rank did, where to look.

`nbgrader_config.py` makes this the exporter of `nbgrader generate_feedback`, so that it, the
formgrader and `distlab grade` write the same pages. What the submission brought is shown and does
nothing: Markdown goes through `grader.markdown`, code is coloured, all else is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup
from nbconvert.exporters import Exporter
from nbgrader import preprocessors as nbgrader
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from grader import markdown, pages

CELL_LIMIT = 50_000  # characters of a cell that are shown
PAGE_LIMIT = 500_000  # characters of a student's cells on a page
_PLACE = re.compile(r"(?:\w:|\bline )(\d{1,6})\b")


class Grades(nbgrader.GetGrades):
    """nbgrader's own, which also says what waits for a person."""

    def _get_score(self, cell, resources):
        super()._get_score(cell, resources)
        grade = self.gradebook.find_grade(
            cell.metadata["nbgrader"]["grade_id"],
            self.notebook_id, self.assignment_id, self.student_id,
        )  # fmt: skip
        cell.metadata.nbgrader["waits"] = bool(grade.needs_manual_grade)


class FeedbackExporter(Exporter):
    """A graded notebook as a page that one would show to whoever wrote it."""

    file_extension = ".html"

    def from_notebook_node(self, nb, resources=None, **kw):
        nb, resources = super().from_notebook_node(nb, resources, **kw)
        page = pages.render("feedback.html.j2", **content(nb, resources["nbgrader"]))
        return page.encode("utf-8", "replace").decode(), resources


@dataclass
class Part:
    """A piece of the page. `kind`: "exercise", "free text", "added" by the student, or "given"."""

    kind: str
    name: str = ""
    cells: list[Markup] = field(default_factory=list)
    source: str = ""  # of an exercise's answer
    status: str = ""
    told: dict[str, str] = field(default_factory=dict)
    picture: Markup = Markup()
    score: float | None = None
    points: float = 0.0
    comment: Markup = Markup()

    @property
    def waits(self) -> bool:
        """Does it wait for a person's points?"""
        return self.kind == "free text" and self.score is None


def content(nb: dict[str, Any], about: dict[str, Any]) -> dict[str, Any]:
    """What the template shows of a graded notebook.

    Args:
        nb: with `Verdicts` in the metadata of its test cells, and `Grades` in those of graded ones.
        about: nbgrader's own: student, assignment, score, maximum, late penalty.
    """
    parts = list(_Parts(nb["cells"]))
    graded = [part for part in parts if part.kind in ("exercise", "free text")]
    return {
        "student": about["student"], "assignment": about["assignment"], "title": _title(nb),
        "score": about["score"], "max_score": about["max_score"],
        "late_penalty": about["late_penalty"], "parts": parts, "graded": graded,
        "waiting": sum(part.points for part in graded if part.waits),
        "repaired": nb["metadata"].get("distlab", {}).get("repaired", []),
    }  # fmt: skip


def _title(nb: dict[str, Any]) -> str:
    """The first heading of the course's own text."""
    sources = (cell["source"] for cell in nb["cells"] if "added" not in _tags(cell))
    return next((h for h in map(_heading, sources) if h), "")


def _heading(source: str) -> str:
    found = re.search(r"^#+ (.+)$", source, re.M)
    return found[1].replace("`", "").replace("*", "") if found else ""


class _Parts:
    """The parts of a page in the notebook's order. Runs of the course's own cells are one part."""

    def __init__(self, cells: list[dict[str, Any]]) -> None:
        self._made: list[Part] = []
        self._exercises: dict[str, Part] = {}
        self._left = PAGE_LIMIT
        for cell in cells:
            self._take(cell)

    def __iter__(self) -> Iterator[Part]:
        for part in self._made:
            if part.source:
                marked = places(part.told)
                part.cells = [self._students(part.source, lambda s, m=marked: code(s, m, True))]
            yield part

    def _take(self, cell: dict[str, Any]) -> None:
        grading = cell["metadata"].get("nbgrader", {})
        name = grading.get("grade_id", "")
        if grading.get("solution") and cell["cell_type"] == "code":
            part = self._exercise(name)
            part.source, part.comment = cell["source"], _comment(grading)
        elif grading.get("solution"):
            part = self._add(Part("free text", name, comment=_comment(grading)))
            part.cells = [self._students(cell["source"], _way(cell))]
            part.points = grading.get("points", 0.0)
            part.score = None if grading.get("waits") else grading.get("score", 0.0)
        elif grading.get("grade"):
            _judge(self._exercise(name.removeprefix("test_")), cell)
        elif "added" in _tags(cell):
            self._add(Part("added", cells=[self._students(cell["source"], _way(cell))]))
        else:
            last = self._made[-1] if self._made else None
            part = last if last and last.kind == "given" else self._add(Part("given"))
            part.cells.append(_way(cell)(cell["source"]))
            part.name = part.name or _heading(cell["source"])

    def _add(self, part: Part) -> Part:
        self._made.append(part)
        return part

    def _exercise(self, name: str) -> Part:
        if name not in self._exercises:
            self._exercises[name] = self._add(Part("exercise", name))
        return self._exercises[name]

    def _students(self, source: str, shown: Callable[[str], Markup]) -> Markup:
        """What a student wrote, as long as there is room for it."""
        limit = max(0, min(self._left, CELL_LIMIT))
        self._left -= len(source)
        if len(source) <= limit:
            return shown(source)
        rest = len(source) - limit
        return Markup("<pre>{}\n… {} more characters</pre>").format(source[:limit], rest)


def code(source: str, marked: Collection[int] = (), numbered: bool = False) -> Markup:
    """Python in colours, with the numbers of its lines and some of them marked."""
    formatter = HtmlFormatter(linenos="inline" if numbered else False, hl_lines=list(marked))
    return Markup(highlight(source, PythonLexer(stripnl=False), formatter))


def places(told: dict[str, str]) -> set[int]:
    """The lines of its cell that a verdict names."""
    return {int(line) for line in _PLACE.findall(told.get("happened", ""))}


def _way(cell: dict[str, Any]) -> Callable[[str], Markup]:
    return code if cell["cell_type"] == "code" else markdown.to_html


def _tags(cell: dict[str, Any]) -> list[str]:
    return cell["metadata"].get("tags", [])


def _comment(grading: dict[str, Any]) -> Markup:
    said = grading.get("comment")
    return markdown.to_html(said) if said else Markup()


def _judge(part: Part, cell: dict[str, Any]) -> None:
    """Take over the verdict and the points of a test cell."""
    grading = cell["metadata"]["nbgrader"]
    part.score, part.points = grading.get("score", 0.0), grading.get("points", 0.0)
    outputs = cell.get("outputs", [])
    told = cell["metadata"].get("distlab")
    if told is None:  # autograded by an earlier version
        error = next((o for o in outputs if o["output_type"] == "error"), None)
        told = {
            "status": error["ename"] if error else "passed",
            "happened": error["evalue"] if error else "",
        }
    part.status, part.told = told["status"], told
    for output in outputs:
        # made by the ledger of records that are data; a browser that knows the page's policy would
        # run no script in it anyway
        part.picture = Markup(output.get("data", {}).get("image/svg+xml", "")) or part.picture
