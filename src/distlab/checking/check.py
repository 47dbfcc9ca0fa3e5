"""`check(fn)`: run the visible cases of an exercise here and show a verdict to act on."""

from __future__ import annotations

import contextlib
import html
import linecache
import os
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from distlab import course
from distlab.checking import own_inputs
from distlab.engines import by_value, live, progress
from distlab.engines.outcomes import Outcome, Run
from distlab.engines.printed import printed
from distlab.exercises import reference
from distlab.exercises.exercise import Case, Exercise
from distlab.exercises.judge import judge
from distlab.exercises.reference import NoReference, References
from distlab.exercises.sources import Sources
from distlab.exercises.unfinished import UNSENT
from distlab.exercises.verdict import Verdict
from distlab.processes import (
    disk_room,
    frameworks,
    loopback,
    origin,
    starting,
    wrong_argument,
)
from distlab.records.choices import Schedule
from distlab.viz.svg import ink
from distlab.viz.widget import kernel

_references: dict[str, References] = {}


class CheckFailed(AssertionError):
    """The answer to an exercise is not right yet. `verdict` says why; it has been shown."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(f"{verdict.exercise.name}: {verdict.status}")
        self.verdict = verdict

    def _render_traceback_(self) -> list[str]:
        if "NBGRADER_EXECUTION" in os.environ:  # Validate shows it and nothing else, as it is
            return [textwrap.fill(f"CheckFailed: {self}. {self.verdict.message}", 100)]
        return [f"CheckFailed: {self}"]


@wrong_argument.takes("check takes the function of an exercise, check(exchange) say")
def check(answer: Any, name: str | None = None) -> None:
    """Judge `answer` by the visible cases of the exercise of its name.

    Args:
        answer: the student's function.
        name: the exercise, where neither `answer` nor the caller's name for it says which.

    Raises:
        CheckFailed: it is not right yet.
        WrongArgument: it was called without an answer, or with more than this.
        NoExercise: there is no exercise of this name, or `answer` is no function.
        Missing: it needs a framework that is not installed.
        NoRoom: the answer failed, and the disk is full.
        Down: the answer failed, and this machine does not reach itself.
        NeedsLinux: the exercise forks ranks, which is safe on Linux only.
    """
    if os.environ.get("DISTLAB_GRADING"):
        return
    if not isinstance(name, str | None):
        said = "check takes one function at a time, check(exchange) say"
        raise wrong_argument.WrongArgument(said)
    exercise = _asked(name or _name_of(answer))
    if exercise.forks:
        starting.refuse_elsewhere(exercise.name)
    frameworks.need(*exercise.needs, what=exercise.name)
    exercise, own, said = own_inputs.asked(exercise, _folder(exercise.lab))
    checked = f"{exercise.name} is being checked"
    with progress.line(checked), live.shown(checked) as seen:
        run = Local(answer, max(case.size for case in exercise.visible), seen)
        verdict = judge(exercise, exercise.visible, own or _reference, run, run.quoted)
    # shown, not returned: nbgrader would take a cell's result for partial credit
    _show(Shown(verdict, said))
    if verdict.status != "passed":
        raise CheckFailed(verdict)


def _name_of(answer: Any) -> str:
    """The exercise's name that an answer goes by, as in grading, else the one it was defined by: a
    partial has none, a lambda or what a decorator returns another, perhaps another exercise's.
    """
    name = getattr(answer, "__name__", None)
    for scope in _scopes(answer) if callable(answer) else ():
        given = [known for known in [*scope] if scope.get(known) is answer and course.named(known)]
        if given:
            return name if name in given else given[0]
    if not isinstance(name, str):
        say = answer if isinstance(answer, str) and course.named(answer) else "exchange"
        raise course.NoExercise(
            f"check takes a function, and this is of type {type(answer).__name__}: write the "
            f"function's name without quotes and without parentheses, check({say}) say"
        )
    return name


def _scopes(answer: Any) -> Iterator[dict[str, Any]]:
    """Where an answer may have a name: what the code uses that called into distlab, all of that
    cell's or script's names, and those of the answer's own notebook.
    """
    frame: FrameType | None = sys._getframe()
    while frame and origin.ours(frame.f_code.co_filename):
        frame = frame.f_back
    if frame:
        yield {name: frame.f_globals.get(name) for name in frame.f_code.co_names}
        yield frame.f_globals
    own = getattr(answer, "__globals__", None)
    if isinstance(own, dict):  # an object may answer anything when it is asked for that
        yield own


def _asked(name: str) -> Exercise:
    """The exercise of this name. Where several labs have one, the lab whose references lie here
    decides.
    """
    found = course.named(name)
    if len(found) < 2:
        return found[0] if found else course.find(name)
    with contextlib.suppress(NoReference):
        here = References(_folder(), "reference").exercises
        return max(found, key=lambda one: len(here & set(course.exercises(one.lab))))
    return found[0]


def _folder(lab: str = "") -> Path:
    """Where references lie: beside the notebook, wherever a cell has gone since, or in the course's
    folder for this lab.
    """
    folder = Path(os.environ.get("DISTLAB_LAB", "."))
    began = getattr(kernel.shell(), "starting_dir", folder)
    for candidate in (Path(began), folder, folder / "labs" / lab):
        if (candidate / "reference.json").exists():
            folder = candidate
    return folder


def _for_want_of_room(outcome: Outcome) -> bool:
    """May a rank have ended because the disk is full? Writing into a mapped file ends the process
    then.
    """
    told = outcome.error["message"] if outcome.error else ""
    return outcome.status == "crashed" or any(said in told for said in disk_room.SAID)


class Local:
    """Runs the cases of one answer on this process's ranks, which are up before time counts."""

    def __init__(self, answer: Any, size: int, seen: live.Live | None = None) -> None:
        from distlab.engines import ranks

        self._live = seen
        self._blob, self._unsent, self._sources = b"", "", ranks.sources_of(answer)
        try:
            self._blob = by_value.dumps(answer)
            by_value.need_room(getattr(answer, "__name__", "the function"), self._blob)
        except by_value.NotSent as error:
            self._unsent = str(error)
        self.quoted = Sources(self._sources or _script_of(answer))
        self._size = max(size, 4)
        ranks.local(self._size)

    def __call__(
        self, exercise: Exercise, case: Case, inputs: list[bytes], left: float,
        schedule: Schedule | None = None,
    ) -> Run:  # fmt: skip
        """A run of a case. Ranks that were forked early have to import what they lack, so a run on
        them is believed only if every rank returned; else it is repeated on complete ranks.
        """
        from distlab.engines import ranks

        if self._unsent:
            error = {"type": UNSENT, "message": self._unsent, "frames": []}
            return Run([Outcome(0, "raised", error=error)], [], 0.0, left)
        with ranks.turn:
            run = self._driven(exercise, inputs, left, schedule)
            if not run.ok and ranks.local(self._size).ripen():
                run = self._driven(exercise, inputs, left, schedule)
            if any(map(_for_want_of_room, run.outcomes)) or run.timed_out:
                disk_room.need(ranks.local(self._size).folder.parent)
            if not run.ok and exercise.group:
                loopback.need()
            return run

    def _driven(
        self, exercise: Exercise, inputs: list[bytes], left: float, schedule: Schedule | None
    ) -> Run:
        from distlab.engines import ranks, runs
        from distlab.records.deadlock import Watcher

        return runs.drive(
            ranks.local(self._size), self._blob, inputs, harness=exercise.id, group=exercise.group,
            strict=True, sources=self._sources, deadline=left, watch=Watcher(), schedule=schedule,
            keeps=True, live=None if schedule else self._live,
        )  # fmt: skip


def _script_of(answer: Any) -> dict[str, str]:
    """The file that a function was defined in, where that is no notebook."""
    from distlab.engines import ranks

    file = ranks.file_of(answer)
    return {file: "".join(linecache.getlines(file))} if file else {}


def _reference(exercise: Exercise, case: Case) -> list[Any]:
    if exercise.lab not in _references:
        _references[exercise.lab] = reference.released(
            _folder(exercise.lab), exercise.lab, "open the notebook in the folder that it came in"
        )
    return _references[exercise.lab](exercise, case)


class Shown:
    """A verdict as a notebook or a terminal shows it.

    Args:
        said: a sentence on whose inputs were used, where there is something to say.
    """

    def __init__(self, verdict: Verdict, said: str = "") -> None:
        self.verdict, self._said = verdict, said

    def _headline(self) -> str:
        v = self.verdict
        if v.status == "passed":
            cases = f"{v.total} visible case" + ("s" if v.total != 1 else "")
            covered = f", in {v.covered}" if v.covered else ""
            said = f"{v.exercise.name} passed its {cases} in {v.seconds:.2g} s{covered}."
            return " ".join(part for part in (said, self._said, v.exercise.left_open) if part)
        said = f"{v.exercise.name}: {v.status} (case {v.passed + 1} of {v.total})."
        return f"{said} {self._said}".rstrip()

    def __repr__(self) -> str:
        v = self.verdict
        if v.status == "passed":
            return self._headline()
        lines = [self._headline()]
        quoted = [("line", f"{place}  {text}") for place, text in v.lines]
        for label, text in (
            ("expected", v.expected), ("happened", v.happened), *quoted, ("look", v.look)
        ):  # fmt: skip
            if text:
                lines.append(f"  {label:>8}: {text}")
        if text := self._printed():
            lines += ["  what was printed:", *(f"    {x}" for x in text.splitlines())]
        return "\n".join(lines)

    def _printed(self) -> str:
        """What ranks have printed, where the answer is not right: it may have been meant to find
        out why.
        """
        v = self.verdict
        return printed(v.run) if v.run is not None and v.status != "passed" else ""

    def _repr_html_(self) -> str:
        v = self.verdict
        mark, colour = ("✓", "#009E73") if v.status == "passed" else ("✗", "#D55E00")
        quoted = "<br>".join(
            f"{html.escape(place)}&ensp;<code>{html.escape(text)}</code>" for place, text in v.lines
        )
        if output := html.escape(self._printed()):
            output = f"<pre style='white-space:pre-wrap;margin:0'>{output}</pre>"
        label_style = "text-align:right;vertical-align:top;white-space:nowrap;opacity:.7"
        rows = "".join(
            f"<tr><td style='{label_style}'>{label}</td>"
            f"<td style='text-align:left'>{text}</td></tr>"
            for label, text in (
                ("what was expected", html.escape(v.expected)),
                ("what happened", html.escape(v.happened)),
                ("in your code", quoted),
                ("where to look", html.escape(v.look)),
                ("what was printed", output),
            )
            if text and v.status != "passed"
        )
        mark = f"<span style='color:{ink(colour)}'>{mark}</span>"
        return (
            f"<div style='border-left:4px solid {colour};padding-left:.8em'>"
            f"<b>{mark} {html.escape(self._headline())}</b>"
            + (f"<table style='border:0'>{rows}</table>" if rows else "")
            + self._picture()
            + "</div>"
        )

    def _picture(self) -> str:
        v = self.verdict
        if v.run is None or not any(record.events for record in v.run.records):
            return ""
        from distlab.viz.comparison import compare
        from distlab.viz.timeline import timeline

        if v.right is None:
            return timeline(v.run.records)._repr_html_()
        wrong = f"not right: schedule {v.schedule}" if v.schedule else "not right"
        part = v.parting[1], v.parting[0]
        return compare(v.right, v.run, ("right", wrong), part=part)._repr_html_()


def _show(shown: Shown) -> None:
    """In a notebook as HTML, in a plain terminal as text."""
    if progress.in_notebook():
        from IPython.display import display

        display(shown)
    else:
        print(shown)
