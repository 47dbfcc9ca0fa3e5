"""The ledger: the verdicts of the referee, a file a submission. Scores come from here alone.

An entry holds for one state of the submission's code, the course and the references; when one of
them changes, the entry is stale and the submission is judged again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from distlab.exercises.verdict import Verdict
from grader import coursedir, writing
from grader.likeness.pattern import pattern
from grader.policy.exact import total

MESSAGE_LIMIT = 10_000  # characters


@dataclass
class Line:
    """One exercise of one submission."""

    name: str
    status: str
    score: float
    max_score: float
    message: str = ""
    seconds: float = 0.0
    hint: str = ""
    picture: str = ""  # SVG of the visible case that failed
    # the message's three sentences
    expected: str = ""
    happened: str = ""
    look: str = ""
    passed: int = 0  # cases that were right before the first that was not
    total: int = 0  # all cases
    smaller: int = 0  # of those that were right, the ones with fewer ranks than that first one
    pattern: str = ""  # what its ranks called in which order (`grader.likeness.pattern`)


@dataclass
class Entry:
    """One submission: a line for each exercise, or why it is `unreadable` or `not_graded`."""

    student: str
    assignment: str
    digest: str
    lines: list[Line] = field(default_factory=list)
    repaired: list[str] = field(default_factory=list)
    seconds: float = 0.0
    unreadable: str = ""
    not_graded: str = ""  # a failure of the grader's own: no score, nowhere
    flagged: list[str] = field(default_factory=list)  # what a person should look at in the source
    by: str = ""  # whose submission it is, of the student's group
    variant: str = ""  # whose inputs it was judged by, where not everybody's
    basis: str = ""  # what it was judged by: changes with the course

    @property
    def score(self) -> float:
        return total(line.score for line in self.lines)

    @property
    def max_score(self) -> float:
        return sum(line.max_score for line in self.lines)

    def line(self, name: str) -> Line | None:
        return next((line for line in self.lines if line.name == name), None)


def line(verdict: Verdict) -> Line:
    """A verdict as the ledger keeps it. Of a hidden case there is no picture: it would show the
    inputs.
    """
    return Line(
        verdict.exercise.name, verdict.status, verdict.score, float(verdict.exercise.points),
        verdict.message[:MESSAGE_LIMIT], round(verdict.seconds, 3), verdict.hint, _picture(verdict),
        verdict.expected[:MESSAGE_LIMIT], verdict.happened[:MESSAGE_LIMIT],
        verdict.look[:MESSAGE_LIMIT], verdict.passed, verdict.total, _smaller(verdict),
        _pattern(verdict),
    )  # fmt: skip


def _smaller(verdict: Verdict) -> int:
    """How many of the cases that were right have fewer ranks than the first that was not."""
    if verdict.case is None or verdict.status == "passed":
        return 0
    right = coursedir.cases(verdict.exercise)[: verdict.passed]
    return sum(case.size < verdict.case.size for case in right)


def _pattern(verdict: Verdict) -> str:
    try:
        return pattern(verdict)
    except Exception:  # records that a student's code has written can be any nonsense
        logging.getLogger(__name__).exception("no pattern of %s", verdict.exercise.id)
        return ""


def _picture(verdict: Verdict) -> str:
    shown = verdict.status != "passed" and verdict.case is not None and not verdict.case.hidden
    if not shown or verdict.run is None or not any(r.events for r in verdict.run.records):
        return ""
    from distlab.viz.timeline import timeline

    try:
        return timeline(verdict.run.records).svg(alone=False)
    except Exception:  # a mistake of ours in a picture is no reason not to be graded
        logging.getLogger(__name__).exception("no picture of %s", verdict.exercise.id)
        return ""


class Ledger:
    """The entries below `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, assignment: str, student: str) -> Path:
        return self.folder / assignment / f"{student}.json"

    def _shared(self, assignment: str, student: str) -> Path:
        """Where a group member's entry lies when another member's submission counts for the group.
        The entry on the student's own submission is kept, for when there is no group any more.
        """
        return self.folder / assignment / "groups" / f"{student}.json"

    def get(self, assignment: str, student: str, digest: str) -> Entry | None:
        """The entry of a submission, if there is one that is not stale."""
        return next(
            (entry for entry in self._found(assignment, student) if entry.digest == digest), None
        )

    def latest(self, assignment: str, student: str) -> Entry | None:
        """The entry of a student's submission that counts, stale or not."""
        return next(self._found(assignment, student), None)

    def _found(self, assignment: str, student: str) -> Iterator[Entry]:
        for path in (self._shared(assignment, student), self.path(assignment, student)):
            if (entry := _read(path)) is not None:
                yield entry

    def entries(self, assignment: str) -> Iterator[Entry]:
        """The entries on what students have handed in themselves, stale or not."""
        for path in sorted((self.folder / assignment).glob("*.json")):
            if (entry := _read(path)) is not None:
                yield entry

    def counting(self, assignment: str) -> Iterator[Entry]:
        """What counts for each student, by student: for the members of a group, what one of them
        has handed in.
        """
        names = {entry.student for entry in self.entries(assignment)}
        for name in sorted(names | set(self.sharing(assignment))):
            if (entry := self.latest(assignment, name)) is not None:
                yield entry

    def put(self, entry: Entry) -> None:
        """Write an entry, whole or not at all."""
        shared = self._shared(entry.assignment, entry.student)
        if entry.by:
            writing.whole(shared, json.dumps(_content(entry)))
        else:
            writing.whole(self.path(entry.assignment, entry.student), json.dumps(_content(entry)))
            shared.unlink(missing_ok=True)

    def sharing(self, assignment: str) -> list[str]:
        """The students whose entry is that of another member of their group."""
        found = (self.folder / assignment / "groups").glob("*.json")
        return sorted(path.name.removesuffix(".json") for path in found)

    def entered(self, entry: Entry, *around: Any) -> bool:
        """Has this entry gone into the gradebook, when `around` was as it is now?

        Args:
            around: what else the gradebook's rows and the page depend on, as JSON can hold it.
        """
        try:
            return self._mark(entry).read_text("utf-8") == _marked(entry, around)
        except OSError:
            return False

    def note_entered(self, entry: Entry, *around: Any) -> None:
        """Note that this entry is in the gradebook."""
        writing.whole(self._mark(entry), _marked(entry, around))

    def page_shows(self, assignment: str, student: str, *facts: Any) -> bool:
        """Was it noted last that the feedback page shows these facts?"""
        try:
            return self._page(assignment, student).read_text("utf-8") == _hashed(facts)
        except OSError:
            return False

    def note_page(self, assignment: str, student: str, *facts: Any) -> None:
        """Note what the feedback page of a submission shows."""
        writing.whole(self._page(assignment, student), _hashed(facts))

    def has_page(self, assignment: str, student: str) -> bool:
        """Was anything noted of the feedback page of a submission?"""
        with contextlib.suppress(OSError):  # a name that is too long for a file, say
            return self._page(assignment, student).exists()
        return False

    def forget_page(self, assignment: str, student: str) -> None:
        self._page(assignment, student).unlink(missing_ok=True)

    def remove(self, assignment: str, student: str) -> None:
        """Forget a submission."""
        path = self.path(assignment, student)
        shared, page = self._shared(assignment, student), self._page(assignment, student)
        for each in (path, shared, path.with_suffix(".entered"), page):
            each.unlink(missing_ok=True)

    def _page(self, assignment: str, student: str) -> Path:
        path = self.path(assignment, student)
        return path.with_name(f"{student}.page")

    def _mark(self, entry: Entry) -> Path:
        return self.path(entry.assignment, entry.student).with_suffix(".entered")


def _read(path: Path) -> Entry | None:
    """The entry in a file; `None` where there is none that this grader can use: it is damaged, has
    fields of a later version, or is from before cases were counted. The submission is judged again.
    """
    try:
        content: dict[str, Any] = json.loads(path.read_text("utf-8"))
        lines: list[dict[str, Any]] = content.pop("lines")
        if any("total" not in one for one in lines):
            return None
        return Entry(**content, lines=[Line(**one) for one in lines])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _content(entry: Entry) -> dict[str, Any]:
    """An entry as it is written; nothing of variants where there are none."""
    content = asdict(entry)
    if not entry.variant:
        del content["variant"]
    return content


def _marked(entry: Entry, around: Any) -> str:
    content = _content(entry)
    for line in content["lines"]:
        del line["pattern"]  # nothing in the gradebook comes of it
    return _hashed([content, around])


def _hashed(content: Any) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()
