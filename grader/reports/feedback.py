"""The feedback page of a submission: what was asked, what each rank did, where to look.

What the submission brought is shown and does nothing: Markdown goes through
`grader.reports.markdown`, code is coloured, all else is escaped. `grader.reports.rendering` makes
the page, with limits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from distlab.records import redaction
from grader.reports import html, markdown

CELL_LIMIT = 50_000  # characters of a cell that are shown
PAGE_LIMIT = 500_000  # characters of a student's cells on a page
_PLACE = re.compile(r"(?:\w:|\bline )(\d{1,6})\b")


def page(nb: dict[str, Any], about: dict[str, Any], why: str = "") -> str:
    """A graded notebook as a page that one would show to whoever wrote it.

    Args:
        nb, about: as `content` has them.
        why: nothing is coloured or formatted, for this reason.
    """
    return html.render("feedback.html.j2", **content(nb, about, why))


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
    judged: float | None = None  # what the judge gave, where a person gave something else
    looks: list[str] = field(default_factory=list)  # what was asked and answered
    ask: str = ""  # what to type to ask for a second look

    @property
    def waits(self) -> bool:
        """Does it wait for a person's points?"""
        return self.kind == "free text" and self.score is None


def content(nb: dict[str, Any], about: dict[str, Any], why: str = "") -> dict[str, Any]:
    """What the template shows of a graded notebook.

    Args:
        nb: with `Verdicts` in the metadata of its test cells, and `Grades` in those of graded ones.
        about: nbgrader's own: student, assignment, score, maximum, late penalty; and sentences on
            the course's `policy`, where it has one; what was said of second `looks`, by exercise,
            and what to type to `ask` for one.
        why: show text and code as they are, for this reason.
    """
    parts = list(_Parts(nb["cells"], plain=bool(why)))
    said = nb["metadata"].get("distlab", {})
    if said.get("unreadable"):
        parts = [_unread(part) for part in parts]
    graded = [part for part in parts if part.kind in ("exercise", "free text")]
    for part in parts:
        if part.kind == "exercise":
            _tell_looks(part, about)
    return {
        "student": about["student"], "assignment": about["assignment"], "title": _title(nb),
        "score": about["score"], "max_score": about["max_score"],
        "late_penalty": about["late_penalty"], "policy": about.get("policy", []),
        "parts": parts, "graded": graded,
        "waiting": sum(part.points for part in graded if part.waits),
        "repaired": said.get("repaired", []), "unreadable": said.get("unreadable", ""), "why": why,
    }  # fmt: skip


def _unread(part: Part) -> Part:
    """A part where the submission could not be read: without an answer, of which nbgrader says that
    there was none. What a person has said and given stays.
    """
    if part.kind == "given":
        return part
    comment = Markup() if part.comment.striptags() == "No response." else part.comment
    return Part(
        part.kind, part.name, status="unreadable", score=part.score, points=part.points,
        comment=comment, judged=part.judged,
    )  # fmt: skip


def _tell_looks(part: Part, about: dict[str, Any]) -> None:
    """What was asked about an exercise and answered, and how to ask where points are missing."""
    part.looks = about.get("looks", {}).get(part.name, [])
    if part.score is not None and part.score < part.points and about.get("ask"):
        part.ask = about["ask"].replace("{}", part.name)


def _title(nb: dict[str, Any]) -> str:
    """The first heading of the course's own text."""
    sources = (cell["source"] for cell in nb["cells"] if "added" not in _tags(cell))
    return next((h for h in map(_heading, sources) if h), "")


def _heading(source: str) -> str:
    found = re.search(r"^#+ (.+)$", source, re.M)
    return found[1].replace("`", "").replace("*", "") if found else ""


class _Parts:
    """The parts of a page in the notebook's order. Runs of the course's own cells are one part."""

    def __init__(self, cells: list[dict[str, Any]], plain: bool = False) -> None:
        self._plain = plain
        self._made: list[Part] = []
        self._exercises: dict[str, Part] = {}
        self._left = PAGE_LIMIT
        for cell in cells:
            self._take(cell)

    def __iter__(self) -> Iterator[Part]:
        for part in self._made:
            if part.source:
                marked = places(part.told)
                shown = _as_it_is if self._plain else lambda s, m=marked: code(s, m, True)
                part.cells = [self._students(part.source, shown)]
            yield part

    def _take(self, cell: dict[str, Any]) -> None:
        grading = cell["metadata"].get("nbgrader", {})
        name = grading.get("grade_id", "")
        if grading.get("solution") and cell["cell_type"] == "code":
            part = self._exercise(name)
            part.source, part.comment = cell["source"], self._comment(grading)
        elif grading.get("solution"):
            part = self._add(Part("free text", name, comment=self._comment(grading)))
            part.cells = [self._students(cell["source"], self._way(cell))]
            part.points = grading.get("points", 0.0)
            part.score = None if grading.get("waits") else grading.get("score", 0.0)
        elif grading.get("grade"):
            _judge(self._exercise(name.removeprefix("test_")), cell)
        elif "unreadable" in _tags(cell):
            return  # the page says it on top
        elif "added" in _tags(cell):
            self._add(Part("added", cells=[self._students(cell["source"], self._way(cell))]))
        else:
            last = self._made[-1] if self._made else None
            part = last if last and last.kind == "given" else self._add(Part("given"))
            part.cells.append(self._way(cell)(cell["source"]))
            part.name = part.name or _heading(cell["source"])

    def _add(self, part: Part) -> Part:
        self._made.append(part)
        return part

    def _exercise(self, name: str) -> Part:
        if name not in self._exercises:
            self._exercises[name] = self._add(Part("exercise", name))
        return self._exercises[name]

    def _way(self, cell: dict[str, Any]) -> Callable[[str], Markup]:
        if self._plain:
            return _as_it_is
        return code if cell["cell_type"] == "code" else markdown.to_html

    def _comment(self, grading: dict[str, Any]) -> Markup:
        said = grading.get("comment")
        if not said:
            return Markup()
        return _as_it_is(said) if self._plain else markdown.to_html(said)

    def _students(self, source: str, shown: Callable[[str], Markup]) -> Markup:
        """What a student wrote, as long as there is room for it."""
        limit = max(0, min(self._left, CELL_LIMIT))
        self._left -= len(source)
        if len(source) <= limit:
            return shown(source)
        rest = len(source) - limit
        return Markup("<pre>{}\n… {} more characters</pre>").format(
            redaction.visible_lines(source[:limit]), rest
        )


_BLANKS = re.compile(r"^[^\S\n]+$", re.M)


def code(source: str, marked: Collection[int] = (), numbered: bool = False) -> Markup:
    """Python in colours, with the numbers of its lines and some of them marked."""
    # what turns the direction of writing would have a reader see other code than is there
    lines = redaction.visible_lines(source)
    # at each blank of a line of blanks the lexer looks for a docstring behind all that follow:
    # thousands of such lines would take it minutes
    lines = _BLANKS.sub("", lines)
    formatter = HtmlFormatter(linenos="inline" if numbered else False, hl_lines=list(marked))
    return Markup(highlight(lines, PythonLexer(stripnl=False), formatter))


def highlighted(source: str, language: str | None = None, metadata: Any = None) -> Markup:
    """Python in colours, in place of nbconvert's filter `highlight_code`: its lexers of IPython and
    of other languages have slow inputs of their own.
    """
    return code(source)


def _as_it_is(source: str) -> Markup:
    return Markup("<pre>{}</pre>").format(redaction.visible_lines(source))


def places(told: dict[str, str]) -> set[int]:
    """The lines of its cell that a verdict names."""
    return {int(line) for line in _PLACE.findall(told.get("happened", ""))}


def _tags(cell: dict[str, Any]) -> list[str]:
    tags: list[str] = cell["metadata"].get("tags", [])
    return tags


def _judge(part: Part, cell: dict[str, Any]) -> None:
    """Take over the verdict and the points of a test cell."""
    grading = cell["metadata"]["nbgrader"]
    part.score, part.points = grading.get("score", 0.0), grading.get("points", 0.0)
    part.judged = grading.get("judged")
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
