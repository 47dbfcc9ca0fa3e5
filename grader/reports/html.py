"""What the instructor's report and the feedback pages have in common: templates, colours, links.

A page is one file: no script, no font, nothing from elsewhere. Its Content-Security-Policy says so
to the browser too, so that nothing that a submission might smuggle in is run or fetched.
"""

from __future__ import annotations

import functools
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jinja2
from markupsafe import Markup, escape

from distlab.records import redaction

TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class Status:
    """How pages show a verdict's status: never by colour alone."""

    name: str
    symbol: str
    meaning: str


STATUSES = {
    status.name: status
    for status in (
        Status("passed", "✓", "every case is right"),
        Status("wrong", "✗", "a case gave something else"),
        Status("error", "!", "a rank raised an exception"),
        Status("deadlock", "⇄", "ranks wait for each other forever"),
        Status("timeout", "◷", "the time was up"),
        Status("crashed", "↯", "a process ended by itself"),
        Status("tampered", "⚑", "it tried to mislead the judge"),
        Status("flagged", "⚐", "its source reaches for what the course keeps to itself"),
        Status("unanswered", "–", "still to be written"),
        Status("unreadable", "?", "the file could not be read"),
        Status("not graded", "○", "no score: it could not be judged"),
    )
}


def status(name: str) -> Status:
    return STATUSES.get(name) or Status("error", "!", name)


def render(template: str, **values: Any) -> str:
    """A page made from one of `templates/`; all values are escaped."""
    return _environment().get_template(template).render(**values)


def link(page: Path, target: Path) -> str:
    """A relative link from a page to a file, which stays valid when both are moved together."""
    relative = Path(os.path.relpath(target, page.parent))
    return "/".join(quote(part, safe="", errors="surrogateescape") for part in relative.parts)


def anchor(exercise: str) -> str:
    """The id of an exercise on a feedback page."""
    return f"exercise-{exercise}"


def seconds(value: float) -> str:
    """A duration in few characters: 40 ms, 2.3 s, 4 min 10 s."""
    if value < 0.95:
        return f"{1000 * value:.0f} ms"
    if value < 59.5:
        return f"{value:.1f} s" if value < 9.95 else f"{value:.0f} s"
    minutes, rest = divmod(round(value), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def counted(number: int, one: str, many: str = "") -> str:
    """1 submission, 2 submissions."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def _cut(said: str, limit: int = 320) -> str:
    """A message, cut to what an overview needs."""
    return said if len(said) <= limit else said[: limit - 1] + "…"


def _breakable(name: str) -> Markup:
    """A name that may wrap after its underscores."""
    return Markup("_<wbr>").join(name.split("_"))


_CODE = re.compile(r"`([^`\n]+)`")


def _coded(said: str) -> Markup:
    """One of our sentences, escaped, with what is between backticks as code."""
    escaped = str(escape(redaction.visible(said)))
    return Markup(_CODE.sub(r"<code>\1</code>", escaped))


@functools.cache
def _environment() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True, trim_blocks=True,
        lstrip_blocks=True, undefined=jinja2.StrictUndefined, finalize=_finalize,
    )  # fmt: skip
    made.globals.update(status=status, statuses=STATUSES, anchor=anchor, counted=counted)
    made.filters.update(seconds=seconds, cut=_cut, breakable=_breakable, coded=_coded)
    return made


def _finalize(value: Any) -> Any:
    """Show bidirectional control characters, which submissions may contain, as escapes."""
    return redaction.visible(value) if type(value) is str else value
