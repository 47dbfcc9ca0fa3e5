"""The instructor's page on a class: who needs a look, which mistakes are common, who got what."""

from __future__ import annotations

import collections
import datetime
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from distlab import course
from distlab.exercises.exercise import Exercise
from distlab.viz import svg
from grader import secret, writing
from grader.judging.grade import Graded, final
from grader.judging.ledger import Line
from grader.likeness import section
from grader.likeness.pairs import Likeness
from grader.looks import told as told_looks
from grader.looks.diary import State
from grader.looks.told import Waiting
from grader.reports import flagged, html
from grader.reports.mistakes import Mistake, mistakes

COMMON = 4  # mistakes that are shown for an exercise
NAMED = 12  # students named beside a mistake


@dataclass(frozen=True)
class Told:
    """What the page says about one exercise."""

    exercise: Exercise
    counts: dict[str, int]  # status → submissions, in the order of `html.STATUSES`
    mistakes: list[Mistake]
    median: float | None  # seconds, of the answers that ran
    longest: float | None
    slowest: str  # the student whose answer took longest

    @property
    def share(self) -> float:
        """The share of the submissions that passed."""
        return self.counts.get("passed", 0) / max(1, sum(self.counts.values()))


def write(
    path: Path,
    assignment: str,
    graded: Sequence[Graded],
    took: float,
    now: datetime.datetime | None = None,
    alike: Likeness | None = None,
    state: State | None = None,
    unread: str = "",
    missing: Sequence[str] = (),
) -> Path:
    """Write the page on an assignment.

    Args:
        graded: the class; at least one submission.
        took: how long grading took, in seconds.
        now: when it ended.
        alike: which submissions are alike; a page on one submission has no such section.
        state: what was asked and answered about second looks.
        unread: why that cannot be told.
        missing: the students who have handed in nothing.
    """
    state = state or State()
    exercises = list(course.exercises(assignment).values())
    page = html.render(
        "report.html.j2", assignment=assignment, graded=graded, took=took,
        now=now or datetime.datetime.now().astimezone(), exercises=exercises,
        told=[_told(exercise, graded) for exercise in exercises],
        looks=flagged.looks(graded), waiting=flagged.waiting(graded),
        median=statistics.median([one.entry.score for one in _judged(graded)] or [0.0]),
        # whoever could not be graded, or entered, has no free text
        free_text=max(one.manual_max_score for one in graded),
        maximum=graded[0].entry.max_score, histogram=histogram(graded),
        feedback=_Links(path, assignment, graded), common=COMMON, named=NAMED,
        final=final, policy=any(one.settled is not None for one in graded),
        csv=f"{assignment}.csv", status_of=status_of, secret=secret.current(),
        with_likeness=len(graded) > 1, alike=alike, pairs=section.told(alike) if alike else [],
        requests=told_looks.waiting(state, assignment, [one.entry for one in graded]),
        earlier=told_looks.of_earlier_code(state, assignment), unread=unread,
        missing=missing,
    )  # fmt: skip
    writing.whole(path, page.encode("utf-8", "replace"))
    return path


def write_looks(
    path: Path, assignment: str, graded: Sequence[Graded], requests: Sequence[Waiting]
) -> Path:
    """Write the section on second looks as a page of its own."""
    page = html.render(
        "looks.html.j2", assignment=assignment, requests=requests, earlier=[],
        feedback=_Links(path, assignment, graded), named=NAMED,
    )  # fmt: skip
    writing.whole(path, page.encode("utf-8", "replace"))
    return path


def write_likeness(path: Path, assignment: str, alike: Likeness) -> Path:
    """Write the section on likeness as a page of its own."""
    page = html.render(
        "likeness.html.j2", assignment=assignment, alike=alike, pairs=section.told(alike),
        named=NAMED,
    )  # fmt: skip
    writing.whole(path, page.encode("utf-8", "replace"))
    return path


class _Links:
    """Links from the page to a student's feedback, and to an exercise on it if one is named."""

    def __init__(self, page: Path, assignment: str, graded: Sequence[Graded]) -> None:
        name = course.notebook_name(assignment).replace(".ipynb", ".html")
        self._pages = {
            one.entry.student: html.link(page, one.feedback / name)
            for one in graded
            if one.feedback is not None
        }

    def __call__(self, student: str, exercise: str = "") -> str:
        if student not in self._pages:
            return "#class"  # the gradebook does not have it, so there is no page
        return self._pages[student] + (f"#{html.anchor(exercise)}" if exercise else "")


def status_of(one: Graded, exercise: str) -> str:
    """The status of an exercise as the matrix shows it."""
    line = one.entry.line(exercise)
    return "unreadable" if one.entry.unreadable or line is None else line.status


def _told(exercise: Exercise, graded: Sequence[Graded]) -> Told:
    found = collections.Counter(status_of(one, exercise.name) for one in graded)
    order = [*html.STATUSES, *found]
    answers = list(_answers(exercise, graded))
    ran = {student: line for student, line in answers if line.status != "unanswered"}
    slowest = max(ran, key=lambda student: ran[student].seconds, default="")
    return Told(
        exercise, {name: found[name] for name in dict.fromkeys(order) if found[name]},
        mistakes(answers),
        statistics.median(line.seconds for line in ran.values()) if ran else None,
        ran[slowest].seconds if ran else None, slowest,
    )  # fmt: skip


def _answers(exercise: Exercise, graded: Sequence[Graded]) -> Iterator[tuple[str, Line]]:
    for one in graded:
        line: Line | None = one.entry.line(exercise.name)
        if line is not None and not (one.entry.unreadable or one.entry.not_graded):
            yield one.entry.student, line


def _judged(graded: Sequence[Graded]) -> list[Graded]:
    return [one for one in graded if not one.entry.not_graded]


def histogram(graded: Sequence[Graded], width: float = 340, height: float = 92) -> Markup:
    """How the points are distributed: a bar for each range of points, its count over it."""
    maximum = graded[0].entry.max_score or 1.0
    count = min(12, max(1, int(maximum)))
    bars = [0] * count
    for one in _judged(graded):
        bars[min(count - 1, int(one.entry.score / maximum * count))] += 1
    step, base = width / count, height - 16
    parts = [
        svg.tag("line", x1=0, x2=width, y1=base + 0.5, y2=base + 0.5, stroke="currentColor",
                stroke_opacity=0.4)
    ]  # fmt: skip
    for i, number in enumerate(bars):
        if not number:
            continue
        tall = max(2.0, (base - 16) * number / max(bars))
        low, high = maximum * i / count, maximum * (i + 1) / count
        said = f"{low:g} to {'' if i == count - 1 else 'under '}{high:g} points: {number}"
        parts.append(
            svg.tag(
                "g", svg.hover(said),
                svg.tag("rect", x=i * step + 1.5, y=base - tall, width=step - 3.0, height=tall,
                        fill=svg.BLUE, rx=1.5),
                svg.text((i + 0.5) * step, base - tall - 4, str(number), text_anchor="middle"),
            )
        )  # fmt: skip
    for at, anchor in ((0.0, "start"), (0.5, "middle"), (1.0, "end")):
        parts.append(svg.text(at * width, height - 3, f"{at * maximum:g}", text_anchor=anchor))
    label = "Points: " + ", ".join(f"{one.entry.score:g}" for one in _judged(graded)[:200])
    return Markup(
        svg.tag(
            "svg", *parts, role="img", aria_label=label, width=width, height=height,
            viewBox=f"0 0 {svg.number(width)} {svg.number(height)}", fill="currentColor",
            font_size=11,
        )
    )  # fmt: skip
