"""All that was asked and answered, in one append-only file beside the gradebook.

Each line is an event, as JSON, and the present state follows from all of them in their order. A
line that a crash has cut short does not count, and is removed when the next one is added.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from distlab.checking.second_look import Mistaken
from grader import writing
from grader.coursedir import GradingFailed
from grader.paths import GRADES
from grader.policy.lateness import UTC

LARGEST = 200_000_000  # bytes
MOST = 5  # times that a student may ask about an exercise
MOST_ASKED = 200  # times that a student may ask at all
MOST_KEPT = 500  # comments

Key = tuple[str, str, str]  # student, lab, exercise


@dataclass(frozen=True)
class Asked:
    """A request of a student's."""

    said: str
    when: datetime.datetime


@dataclass(frozen=True)
class Answer:
    """What an instructor has answered.

    Args:
        number: of the event; no two answers have the same.
        points: of the exercise, without extra credit; `None` if they are left, or taken back.
        taken_back: the points are the judge's again.
        comment: empty if it is left as it is.
        by: the account that has answered.
        source: the `code.digest` of the code that it was given for.
        was: what the gradebook held before: manual score, extra credit, comment.
        alike: the student who was answered, if this one was for having made the same mistake.
        entered: it is in the gradebook.
    """

    number: int
    points: float | None
    taken_back: bool
    comment: str
    when: datetime.datetime
    by: str
    source: str = ""
    was: tuple[float | None, float | None, str | None] = (None, None, None)
    alike: str = ""
    entered: bool = False


@dataclass
class Look:
    """All that was asked and answered about one student's exercise."""

    student: str
    lab: str
    exercise: str
    asked: list[Asked] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    is_open: bool = False

    @property
    def key(self) -> Key:
        return self.student, self.lab, self.exercise

    @property
    def last_points(self) -> Answer | None:
        """The last answer that gave points or took them back."""
        with_points = (a for a in reversed(self.answers) if a.points is not None or a.taken_back)
        return next(with_points, None)

    @property
    def last_comment(self) -> Answer | None:
        """The last answer with a comment."""
        return next((a for a in reversed(self.answers) if a.comment), None)


@dataclass
class State:
    """What follows from the events so far.

    Args:
        taken: the ids of requests that were taken in.
        comments: name → comment that is kept for later use.
        events: their number.
    """

    looks: dict[Key, Look] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    comments: dict[str, str] = field(default_factory=dict)
    events: int = 0

    def of(self, student: str, lab: str) -> list[Look]:
        """The looks of one student in one lab."""
        return [one for one in self.looks.values() if (one.student, one.lab) == (student, lab)]

    def open(self, lab: str = "") -> list[Look]:
        """Those that wait for an answer, the oldest request first."""
        found = [one for one in self.looks.values() if one.is_open and lab in ("", one.lab)]
        return sorted(found, key=lambda one: (one.asked[-1].when, one.key))

    def look(self, student: str, lab: str, exercise: str) -> Look:
        """The look of an exercise, empty where nothing was asked or answered."""
        return self.looks.setdefault((student, lab, exercise), Look(student, lab, exercise))

    def add(self, event: dict[str, Any]) -> None:
        """Apply one more event.

        Raises:
            KeyError, TypeError, ValueError: it is not an event.
        """
        what = event["what"]
        if what == "kept":
            self.comments[_text(event["name"])] = _text(event["comment"])
        elif what == "asked":
            look = self._look(event)
            look.asked.append(Asked(_text(event["said"]), _when(event)))
            look.is_open = True
            self.taken.add(_text(event["request"]))
        elif what == "answered":
            look = self._look(event)
            look.answers.append(_answer(event, self.events))
            look.is_open = False
        elif what == "entered":
            look = self._look(event)
            look.answers = [
                replace(one, entered=True) if one.number == event["answer"] else one
                for one in look.answers
            ]
        else:
            raise ValueError(f"{what!r} is not what happens")
        self.events += 1

    def _look(self, event: dict[str, Any]) -> Look:
        return self.look(*(_text(event[name]) for name in ("student", "lab", "exercise")))


class Damaged(GradingFailed):
    """The file cannot be read, or has a line that is none of its own."""


class Diary:
    """The file."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or GRADES / "looks.jsonl"

    def read(self) -> State:
        """The present state.

        Raises:
            Damaged
        """
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return State()
        except OSError as error:
            raise Damaged(f"{self.path} cannot be read: {error.strerror}") from error
        whole = content[: content.rfind(b"\n") + 1]
        state = State()
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                state.add(json.loads(line))
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                raise Damaged(
                    f"{self.path}, line {number}, is damaged ({type(error).__name__}): restore "
                    "the file from a copy, or take the line away"
                ) from error
        return state

    @contextlib.contextmanager
    def adding(self) -> Iterator[Adding]:
        """Add events to the file; others who want to add wait meanwhile."""
        with writing.locked(self.path.with_suffix(".lock")):
            yield Adding(self.path, self.read())


class Adding:
    """Adds events, and keeps `state` up to date with them."""

    def __init__(self, path: Path, state: State) -> None:
        self._path, self.state = path, state

    def add(self, *events: dict[str, Any]) -> None:
        """Write events, all of them or, if the machine goes down, the first of them.

        Raises:
            Mistaken: the file would be too large.
            NotWritten: none of them is there.
        """
        if not events:
            return
        lines = [json.dumps(one, ensure_ascii=True, sort_keys=True) + "\n" for one in events]
        if _cut(self._path) + sum(map(len, lines)) > LARGEST:
            raise Mistaken(f"{self._path} would have more than {LARGEST} bytes: put it away")
        writing.add(self._path, "".join(lines).encode())
        for one in events:
            self.state.add(one)


def about(look: Look, what: str, **fields: Any) -> dict[str, Any]:
    """An event about an exercise, at the present time."""
    now = datetime.datetime.now(UTC).isoformat(timespec="seconds")
    student, lab, exercise = look.key
    return {
        "what": what, "student": student, "lab": lab, "exercise": exercise, "when": now, **fields
    }  # fmt: skip


def _cut(path: Path) -> int:
    """Remove a last line that was never finished; returns the size of the others in bytes."""
    with writing.reported(path), path.open("ab+") as file:
        size = os.fstat(file.fileno()).st_size
        if size and os.pread(file.fileno(), 1, size - 1) != b"\n":
            size = os.pread(file.fileno(), size, 0).rfind(b"\n") + 1
            os.ftruncate(file.fileno(), size)
        return size


def _answer(event: dict[str, Any], number: int) -> Answer:
    points, was = event["points"], event["was"]
    if points is not None and not isinstance(points, (int, float)):
        raise TypeError("points are a number")
    manual, extra, comment = was
    return Answer(
        number, points, bool(event["taken_back"]), _text(event["comment"]), _when(event),
        _text(event["by"]), _text(event["source"]), (manual, extra, comment),
        _text(event["alike"]),
    )  # fmt: skip


def _when(event: dict[str, Any]) -> datetime.datetime:
    return datetime.datetime.fromisoformat(event["when"]).astimezone(UTC)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value
