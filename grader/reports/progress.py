"""The progress of grading, in a terminal: how many are done, which are in work, how long it takes.

Without a terminal there is no progress line: a log is no place for a line that moves. The verdict
on a submission that is graded alone is printed at once, terminal or not: the gradebook takes
seconds more.
"""

from __future__ import annotations

import threading

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from distlab.records import redaction
from grader.judging.ledger import Entry

NAMED = 3  # submissions in work that are named
LONGEST = 20  # characters of a name


class Live:
    """The progress line. A context manager; its methods may be called from any thread."""

    def __init__(self, assignment: str, total: int, console: Console) -> None:
        self._progress = Progress(
            TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(),
            TimeRemainingColumn(), TextColumn("left", style="dim"),
            TextColumn("{task.fields[work]}", markup=False, style="dim"),
            console=console, transient=True, disable=not console.is_terminal,
        )  # fmt: skip
        self._task = self._progress.add_task(assignment, total=total, work="")
        self._console, self._alone = console, total == 1
        self._work: list[str] = []
        self._lock = threading.Lock()

    def began(self, student: str) -> None:
        """A submission is in work."""
        with self._lock:
            self._work.append(student)
            self._tell(0)

    def judged(self, entry: Entry) -> None:
        """There is a verdict on a submission, with the points that the policy gives for it."""
        if self._alone:
            self._console.print(verdict(entry), highlight=False, markup=False, soft_wrap=True)

    def done(self, student: str) -> None:
        """A submission is in the gradebook."""
        with self._lock:
            if student in self._work:
                self._work.remove(student)
            self._tell(1)

    def _tell(self, advance: int) -> None:
        self._progress.update(self._task, advance=advance, work=in_work(self._work))

    def __enter__(self) -> Live:
        self._progress.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._progress.stop()


def verdict(entry: Entry) -> str:
    """A line on a submission that is judged but not in the gradebook yet."""
    missed = [f"{one.name} ({one.status})" for one in entry.lines if one.status != "passed"]
    said = f"{entry.student}: {entry.score:g} of {entry.max_score:g} points"
    if entry.unreadable:
        said += "; it could not be read"
    elif missed:
        said += "; not passed: " + ", ".join(missed)
    return redaction.visible(said) + "; gradebook and feedback follow"


def in_work(students: list[str]) -> str:
    """Who is in work, in a few words, with control characters escaped."""
    names = [redaction.shown(name)[:LONGEST] for name in students[:NAMED]]
    rest = len(students) - len(names)
    if not names:
        return ""
    return "in work: " + ", ".join(names) + (f" and {rest} more" if rest else "")
