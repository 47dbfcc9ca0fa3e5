"""Which submissions of a class a person should look at, and why, in words."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from distlab.exercises.judge import NOT_READABLE
from grader.judging.grade import Graded
from grader.judging.ledger import Line

#: endings that a person may want to look into, though the verdict stands
_ENDED = {
    "crashed": "the process ended by itself",
    "timeout": "ran until the time was up",
    "tampered": "tried to mislead the judge",
}
FAR = 5.0  # times the class's median …
SLOWER = 2.0  # … and seconds above it


@dataclass(frozen=True)
class Reason:
    """Why to look. `exercise` is empty where the whole submission is meant."""

    status: str
    said: str
    exercise: str = ""


@dataclass
class Look:
    """A submission to look at."""

    graded: Graded
    reasons: list[Reason] = field(default_factory=list)

    @property
    def student(self) -> str:
        return self.graded.entry.student


def looks(graded: Sequence[Graded]) -> list[Look]:
    """The submissions with a reason to look at them, in the order of `graded`."""
    usual = medians(graded)
    found = [Look(one, list(_reasons(one, usual))) for one in graded]
    return [look for look in found if look.reasons]


def waiting(graded: Sequence[Graded]) -> list[Graded]:
    """The submissions whose free text waits for points."""
    return [one for one in graded if one.manual_max_score and one.manual_score is None]


def medians(graded: Sequence[Graded]) -> dict[str, float]:
    """{exercise: the median time in seconds of the answers that ran to their end}."""
    times: dict[str, list[float]] = {}
    for one in graded:
        for line in one.entry.lines:
            if line.status in ("passed", "wrong"):
                times.setdefault(line.name, []).append(line.seconds)
    return {name: statistics.median(some) for name, some in times.items()}


def _reasons(one: Graded, usual: dict[str, float]) -> Iterator[Reason]:
    entry = one.entry
    if entry.not_graded:
        yield Reason("not graded", entry.not_graded)
        return
    if one.problem:
        yield Reason("unreadable", f"has to be graded again: {one.problem}")
    if entry.unreadable:
        yield Reason("unreadable", entry.unreadable)
        return
    if entry.repaired:
        yield Reason("tampered", "; ".join(entry.repaired[:5]) + _more(entry.repaired[5:]))
    if entry.flagged:
        yield Reason("flagged", "; ".join(entry.flagged[:5]) + _more(entry.flagged[5:]))
    for exercise in one.outdated:
        said = "has points by hand for what was handed in before: look again, in the formgrader"
        yield Reason("flagged", said, exercise)
    if entry.lines and all(line.status == "unanswered" for line in entry.lines):
        yield Reason("unanswered", "nothing was answered")
        return
    for line in entry.lines:
        yield from _about(line, usual.get(line.name))


def _about(line: Line, median: float | None) -> Iterator[Reason]:
    if line.status in _ENDED:
        yield Reason(line.status, _ENDED[line.status], line.name)
    elif NOT_READABLE in (line.happened or line.message):
        yield Reason(line.status, "returned what the judge cannot read", line.name)
    elif line.status in ("passed", "wrong") and median is not None:
        seconds = line.seconds
        if seconds > FAR * median and seconds > median + SLOWER:
            said = f"took {seconds:.1f} s where the class's median is {median:.1f} s"
            yield Reason(line.status, said, line.name)


def _more(rest: Sequence[str]) -> str:
    return f"; and {len(rest)} more" if rest else ""
