"""The feedback page of a submission: what was asked, what each rank did, where to look.

Nothing that a submission contains can act on the page: Markdown goes through
`grader.reports.markdown`, code is highlighted, and everything else is escaped.
`grader.reports.rendering` calls this module in a process of its own, with limits.
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
from grader.reports import html, markdown, picture

CELL_LIMIT = 50_000  # characters of a cell that are shown
PAGE_LIMIT = 500_000  # characters of a student's cells on a page
_PLACE = re.compile(r"(?:\w:|\bline )(\d{1,6})\b")


def page(nb: dict[str, Any], about: dict[str, Any], why: str = "") -> str:
    """The feedback page of a graded notebook; arguments as for `content`."""
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
        """Is it still to be graded by hand?"""
        return self.kind == "free text" and self.score is None


def content(nb: dict[str, Any], about: dict[str, Any], why: str = "") -> dict[str, Any]:
    """What the template shows of a graded notebook.

    Args:
        nb: with the metadata that the preprocessors `Verdicts` (in test cells) and `Grades` (in
            graded cells) add.
        about: nbgrader's student, assignment, score, maximum and late penalty; sentences on the
            course's `policy`, where it has one; by exercise, what was said in second `looks`; and
            the command to `ask` for one.
        why: where it is not empty, text and code are shown unformatted, for this reason.
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
    """The part of a submission that could not be read: without the answer, and without nbgrader's
    comment that there was none. Comments and points given by hand stay.
    """
    if part.kind == "given":
        return part
    comment = Markup() if part.comment.striptags() == "No response." else part.comment
    return Part(
        part.kind, part.name, status="unreadable", score=part.score, points=part.points,
        comment=comment, judged=part.judged,
    )  # fmt: skip


def _tell_looks(part: Part, about: dict[str, Any]) -> None:
    """Add what was asked and answered about an exercise and, if points are missing, how to ask."""
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
    """The parts of a page, in the notebook's order; adjacent cells of the course form one part."""

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
            part.cells = [self._students(cell["source"], self._renderer(cell))]
            part.points = grading.get("points", 0.0)
            part.score = None if grading.get("waits") else grading.get("score", 0.0)
        elif grading.get("grade"):
            _judge(self._exercise(name.removeprefix("test_")), cell)
        elif "unreadable" in _tags(cell):
            return  # the page says it on top
        elif "added" in _tags(cell):
            self._add(Part("added", cells=[self._students(cell["source"], self._renderer(cell))]))
        else:
            last = self._made[-1] if self._made else None
            part = last if last and last.kind == "given" else self._add(Part("given"))
            part.cells.append(self._renderer(cell)(cell["source"]))
            part.name = part.name or _heading(cell["source"])

    def _add(self, part: Part) -> Part:
        self._made.append(part)
        return part

    def _exercise(self, name: str) -> Part:
        if name not in self._exercises:
            self._exercises[name] = self._add(Part("exercise", name))
        return self._exercises[name]

    def _renderer(self, cell: dict[str, Any]) -> Callable[[str], Markup]:
        if self._plain:
            return _as_it_is
        return code if cell["cell_type"] == "code" else markdown.to_html

    def _comment(self, grading: dict[str, Any]) -> Markup:
        said = grading.get("comment")
        if not said:
            return Markup()
        return _as_it_is(said) if self._plain else markdown.to_html(said)

    def _students(self, source: str, shown: Callable[[str], Markup]) -> Markup:
        """What a student wrote, cut to the room that the limits of cell and page leave."""
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
    """Highlighted Python, optionally with line numbers, and with some lines marked."""
    # bidirectional control characters could show a reader code other than what is there
    lines = redaction.visible_lines(source)
    # from each blank of a blank line the lexer looks for a docstring after all following blanks:
    # thousands of such lines would take minutes
    lines = _BLANKS.sub("", lines)
    formatter = HtmlFormatter(linenos="inline" if numbered else False, hl_lines=list(marked))
    return Markup(highlight(lines, PythonLexer(stripnl=False), formatter))


def highlighted(source: str, language: str | None = None, metadata: Any = None) -> Markup:
    """Highlighted Python, in place of nbconvert's filter `highlight_code`, whose lexers for IPython
    and other languages have slow inputs of their own.
    """
    return code(source)


def _as_it_is(source: str) -> Markup:
    return Markup("<pre>{}</pre>").format(redaction.visible_lines(source))


def places(told: dict[str, str]) -> set[int]:
    """The lines of the answer's cell that a verdict names."""
    return {int(line) for line in _PLACE.findall(told.get("happened", ""))}


def _tags(cell: dict[str, Any]) -> list[str]:
    tags: list[str] = cell["metadata"].get("tags", [])
    return tags


def _judge(part: Part, cell: dict[str, Any]) -> None:
    """Copy the verdict and the points from a test cell."""
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
        # drawn by the ledger from records, which are data; and the page's Content-Security-Policy
        # lets no script run
        part.picture = Markup(picture.svg_of(output.get("data", {}))) or part.picture
