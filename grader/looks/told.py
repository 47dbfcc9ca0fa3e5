"""What pages and the terminal say about second looks."""

from __future__ import annotations

import datetime
import os
import shlex
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from grader.judging.ledger import Entry, Line
from grader.looks import code
from grader.looks.diary import Answer, Look, State
from grader.paths import GRADES
from grader.reports.mistakes import key


@dataclass(frozen=True)
class Waiting:
    """A request that the report shows beside what was judged.

    Args:
        line: the verdict; `None` if there is none any more.
        alike: other students with the same mistake.
        before: what was asked and answered earlier, a sentence each.
    """

    look: Look
    line: Line | None
    alike: list[str]
    before: list[str]
    replay: str
    answer: str

    @property
    def said(self) -> str:
        return self.look.asked[-1].said

    @property
    def when(self) -> str:
        return day(self.look.asked[-1].when)


def waiting(state: State, lab: str, judged: Sequence[Entry]) -> list[Waiting]:
    """The open requests of a lab, the oldest first."""
    asked = state.open(lab)
    entries = {one.student: one for one in judged}
    mistaken = _mistaken(entries.values(), {look.exercise for look in asked})
    found = []
    for look in asked:
        entry = entries.get(look.student)
        line = entry.line(look.exercise) if entry is not None else None
        with_it = mistaken.get((look.exercise, key(line)), []) if line is not None else []
        alike = [name for name in with_it if name != look.student]
        words = shlex.join([look.student, lab, look.exercise])
        found.append(
            Waiting(
                look, line, alike, list(thread(look, "the student"))[:-1],
                f"distlab replay {words}",
                f'distlab answer {words} --points … --comment "…"',
            )
        )  # fmt: skip
    return found


def _mistaken(
    entries: Iterable[Entry], exercises: Collection[str]
) -> dict[tuple[str, tuple[str, str]], list[str]]:
    """{(exercise, key of a mistake): who has made it}."""
    found: dict[tuple[str, tuple[str, str]], list[str]] = defaultdict(list)
    for entry in entries:
        for line in entry.lines:
            if line.name in exercises and line.status not in ("passed", "unanswered"):
                found[line.name, key(line)].append(entry.student)
    return found


def of_earlier_code(state: State, lab: str) -> list[tuple[str, str]]:
    """(student, exercise) of points by hand that were given for other code than is graded now."""
    found = []
    for look in state.looks.values():
        last = look.last_points
        if look.lab == lab and last is not None and not last.taken_back:
            now = code.graded(GRADES / "autograded" / look.student / lab, look.exercise)
            if now and now != last.source:
                found.append((look.student, look.exercise))
    return sorted(found)


def thread(look: Look, who: str = "You") -> Iterator[str]:
    """What was asked and answered, in order, a sentence each; without comments, which stand beside
    the points.
    """
    both: list[tuple[datetime.datetime, int, str]] = [
        (one.when, 0, f"{who[:1].upper()}{who[1:]} asked on {day(one.when)}: “{one.said}”")
        for one in look.asked
    ]
    both += [(one.when, 1, _answered(one)) for one in look.answers]
    yield from (said for _, _, said in sorted(both, key=lambda one: one[:2]))


def _answered(one: Answer) -> str:
    when = day(one.when)
    if one.points is not None:
        points = "1 point" if one.points == 1 else f"{one.points:g} points"
        return f"Looked at again on {when}: {points}, given by hand."
    if one.taken_back:
        return f"Looked at again on {when}: the points are those of the judge."
    return f"Looked at again on {when}: the points stay as they are."


def day(when: datetime.datetime) -> str:
    return f"{when:%-d %B %Y}"


def on_page(state: State, student: str, lab: str) -> dict[str, list[str]]:
    """{exercise: sentences} for a feedback page."""
    found = {}
    for look in state.of(student, lab):
        said = list(thread(look))
        if look.is_open:
            said.append("Nobody has answered yet.")
        if said:
            found[look.exercise] = said
    return found


def line_to_ask(lab: str) -> str:
    """What a student types to ask about an exercise, with {} in place of its name."""
    course = os.environ.get("DISTLAB_COURSE", "")
    several = (
        f" --course {shlex.quote(course)}" if os.environ.get("DISTLAB_SEVERAL_COURSES") else ""
    )
    return f'distlab ask{several} {lab} {{}} "…"'
