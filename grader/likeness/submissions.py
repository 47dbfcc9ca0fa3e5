"""The text of a class's answers, read again from what was handed in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from distlab import course, notebook
from distlab.checking import submission
from distlab.checking.submission import Unreadable
from grader import coursedir
from grader.judging import handed_in, internals
from grader.judging.ledger import Entry, Line
from grader.likeness import helpers
from grader.likeness.tokens import MOST_CHARACTERS

MOST_OF_ALL = 200_000  # characters of a submission; a class of a thousand is held at once


@dataclass
class Work:
    """What is compared of a submission: its answers' sources and verdicts, by exercise."""

    student: str
    sources: dict[str, str] = field(default_factory=dict)
    lines: dict[str, Line] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)  # what was not compared and why, in sentences


def starter(assignment: str) -> dict[str, str]:
    """The sources of the released notebook's cells."""
    return cells_of(coursedir.released(assignment))


def cells_of(content: dict[str, Any]) -> dict[str, str]:
    return {f"{n}": cell.source for n, cell in enumerate(notebook.cells(content))}


def read(assignment: str, submitted: Path, entries: Iterable[Entry]) -> Iterator[Work]:
    """What those who were graded have handed in; of what cannot be read only that it could not.

    What a group has handed in together is one submission, of the member who handed it in.
    """
    released = coursedir.released(assignment)
    names = list(course.exercises(assignment))
    for student, entry in _one_each(entries).items():
        work = Work(student)
        if entry.unreadable:
            work.left_out.append("it could not be read")
        elif entry.not_graded:
            work.left_out.append("it was not graded")
        elif not (folder := submitted / student / assignment).is_dir():
            # it may be there under another name, and would be alike
            work.left_out.append("it is not among the submissions any more")
        else:
            work.lines = {line.name: line for line in entry.lines}
            try:
                content = handed_in.notebook(folder)
                fill(
                    work, submission.plan(released, submission.rebuild(released, content)[0], names)
                )
            except Unreadable as reason:  # it was changed since
                work.left_out.append(f"its text cannot be read any more: {reason}")
        yield work


def _one_each(entries: Iterable[Entry]) -> dict[str, Entry]:
    """{who handed in: their entry}; or where they have none, that of another of their group."""
    found: dict[str, Entry] = {}
    for entry in entries:
        if entry.by:
            found.setdefault(entry.by, entry)
        else:
            found[entry.student] = entry
    return found


def fill(work: Work, plan: submission.Plan) -> None:
    """The sources of the cells that are the student's, as far as they are compared."""
    answers = {cell.name: cell.source for cell in plan.cells if cell.kind == "solution"}
    own = [cell.source for cell in plan.cells if cell.kind == "added"]
    added = [text for source in own for text in internals.sources(source)]
    found = helpers.placed(answers, added, MOST_OF_ALL)
    left = MOST_OF_ALL
    for name, source in found.items():
        most = min(MOST_CHARACTERS, left)
        if len(source) > most:
            work.left_out.append(
                f"of {name} only the first {most} of {len(source)} characters were compared"
            )
        work.sources[name] = source[:most]
        left -= min(len(source), most)


def sorted_by_name(works: Iterable[Work]) -> Sequence[Work]:
    """In a fixed order, so that the order in which they came does not matter."""
    return sorted(works, key=lambda work: work.student)
