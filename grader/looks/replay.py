"""One exercise of a submission, judged once more to be looked at: nothing of it is booked.

The page is for instructors: it shows the run of a hidden case too, and with it the shapes of hidden
inputs and their timing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from distlab.exercises.exercise import Case
from distlab.exercises.verdict import Verdict
from distlab.records.events import RankRecord
from distlab.viz import chrome_trace
from distlab.viz.timeline import timeline
from grader import coursedir, writing
from grader.judging import grade, handed_in
from grader.judging.local import LocalJudges
from grader.judging.referee import Referee
from grader.reports import html
from grader.sandbox import configured
from grader.variants import variant as variants


@dataclass(frozen=True)
class Shown:
    """A run as the page shows it."""

    title: str
    picture: Markup
    text: str
    trace: str  # the name of the file beside the page


def again(student: str, lab: str, exercise: str) -> Verdict:
    """Judge an exercise of what a student, or their group, has handed in last, in the sandbox.

    Raises:
        NothingSubmitted, Unreadable, NotGraded, NoSandbox: there is nothing, or it cannot be.
    """
    (one,) = grade.submissions(lab, grade.SUBMITTED, student)
    content = handed_in.notebook(one.folder)
    judges = LocalJudges(configured())
    with contextlib.closing(judges), Referee(judges=judges) as referee:
        rebuilt, _ = referee.rebuild(lab, content)
        plan = coursedir.lab(lab, [exercise]).plan(rebuilt)
        whose = (one.by or student) if variants.in_force(lab) else None
        return judges.again(lab, plan, exercise, whose)


def write(folder: Path, student: str, lab: str, verdict: Verdict) -> Path:
    """Write the page, and a trace for ui.perfetto.dev of each run beside it.

    Raises:
        NotWritten
    """
    with writing.reported(folder):
        return _written(folder, student, lab, verdict)


def _written(folder: Path, student: str, lab: str, verdict: Verdict) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{student}-{lab}-{verdict.exercise.name}"
    shown = []
    if verdict.run is not None:
        title = "as it was judged" + (f", in the schedule {verdict.schedule}"
                                      if verdict.schedule else "")  # fmt: skip
        shown.append(_shown(folder, f"{stem}.trace.json", title, verdict.run.records))
    if verdict.right is not None:
        said = "the same case, in a schedule in which it is right"
        shown.append(_shown(folder, f"{stem}.right.trace.json", said, verdict.right.records))
    case = verdict.case
    page = html.render(
        "replay.html.j2", student=student, assignment=lab, verdict=verdict, shown=shown,
        case="" if case is None else _case(case),
    )  # fmt: skip
    path = folder / f"{stem}.html"
    writing.whole(path, page.encode("utf-8", "replace"))
    return path


def _case(case: Case) -> str:
    """A case in a few words: 4 ranks, shape [2, 3] (hidden)."""
    words = filter(None, (html.counted(case.size, "rank"), case.given))
    return ", ".join(words) + (" (hidden)" if case.hidden else "")


def _shown(folder: Path, name: str, title: str, records: Sequence[RankRecord]) -> Shown:
    drawn = timeline(records)
    chrome_trace.write(records, folder / name)
    # drawn from records, which are data, by code that escapes what it writes
    return Shown(title, Markup(drawn.svg(alone=False)), drawn.text(), name)
