"""Grades as people look at them: a table in the terminal and a CSV file.

Names and messages were written by strangers: the terminal gets no control characters of theirs, and
no spreadsheet takes a cell of the CSV for a formula.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from distlab import course
from distlab.records import redaction
from grader import secret, writing
from grader.judging.grade import Graded, final
from grader.judging.ledger import Line
from grader.likeness.pairs import Likeness
from grader.reports import html
from grader.reports.spreadsheet import inert

COLOURS = {"passed": "green", "unanswered": "dim", "unreadable": "red", "not graded": "red"}
TOLD = 20  # students whose points have changed that are named
WIDEST = 30  # characters of a student's name: a longer one would take all room
BESIDE = 8  # students that have a column each; more have a row each


def show(assignment: str, graded: Sequence[Graded], console: Console) -> None:
    """Points and status by student and exercise; what was repaired or could not be read."""
    many = len(graded) > BESIDE
    drawn = _below if many else _beside
    table = drawn(assignment, graded)
    whole = console.options.update(max_width=10_000)
    short = Measurement.get(console, whole, table).maximum > console.width
    console.print(drawn(assignment, graded, short=True) if short else table)
    if many and short:
        named = (f"{n} {name}" for n, name in enumerate(course.exercises(assignment), 1))
        console.print(Text(f"  {'   '.join(named)}", style="dim"))
    if many or short:
        found = {_status(one, name) for one in graded for name in course.exercises(assignment)}
        legend = [f"{each.symbol} {name}" for name, each in html.STATUSES.items() if name in found]
        console.print(Text("  " + "   ".join(legend), style="dim"))
    for one in graded:
        for said in [one.entry.unreadable] if one.entry.unreadable else one.entry.repaired[:3]:
            console.print(Text(f"  {_plain(one.entry.student)}: {_plain(said)}", style="dim"))
        if one.problem:
            what = "was not graded" if one.entry.not_graded else "has to be graded again"
            said = f"  {_plain(one.entry.student)} {what}: {_plain(one.problem)}"
            console.print(Text(said, style="red"))
        if one.by_hand:
            said = f"  {_plain(one.entry.student)}: has points by hand for {', '.join(one.by_hand)}"
            console.print(Text(f"{said}, which exports have, and not this table", style="dim"))
        if one.entry.by:
            said = f"  {_plain(one.entry.student)}: handed in by {_plain(one.entry.by)}"
            console.print(Text(said, style="dim"))
    if said := _judged_again(graded):
        console.print(Text(f"  {said}", style="yellow"))
    used = secret.current()
    style = "yellow" if used.is_public else "dim"
    console.print(Text(f"  Hidden cases are made with {used.told()}.", style=style))


def _judged_again(graded: Sequence[Graded]) -> str:
    """What has come of it that the course has changed; empty where it has not."""
    again = [one for one in graded if one.before is not None]
    if not again:
        return ""
    other = [one for one in again if one.before != one.entry.score]
    named = ", ".join(
        f"{_plain(one.entry.student)} ({one.before:g}, now {one.entry.score:g})"
        for one in other[:TOLD]
    )
    more = f" and {len(other) - TOLD} more" if len(other) > TOLD else ""
    return (
        f"The course has changed since {html.counted(len(again), 'submission')} of these had "
        "verdicts: what was handed in then, or has been since, was judged again. "
        + (f"Other points than before: {named}{more}." if other else "Points are as before.")
    )


def _beside(assignment: str, graded: Sequence[Graded], short: bool = False) -> Table:
    """A column for each student: the status in words, or where that is to be short, as a symbol."""
    table = Table(title=assignment, title_justify="left", show_lines=False, pad_edge=False)
    table.add_column("exercise", no_wrap=True)
    for one in graded:
        head = Text(_plain(one.entry.student))
        table.add_column(head, justify="right", no_wrap=True, max_width=WIDEST)
    for name, exercise in course.exercises(assignment).items():
        table.add_row(f"{name} ({exercise.points})", *(_cell(one, name, short) for one in graded))
    table.add_section()
    table.add_row("score", *(_score(one) for one in graded), style="bold")
    table.add_row("of", *(f"{one.entry.max_score:g}" for one in graded))
    if _has_policy(graded):
        table.add_row("taken off, late", *(_taken(one) for one in graded))
        table.add_row("final, with free text", *(_final(one) for one in graded), style="bold")
    return table


def _below(assignment: str, graded: Sequence[Graded], short: bool = False) -> Table:
    """A row for each student: the status as a symbol. In a short one exercises have numbers."""
    table = Table(title=assignment, title_justify="left", pad_edge=False)
    table.add_column("student", no_wrap=True, max_width=WIDEST)
    table.add_column(f"of {graded[0].entry.max_score:g}", justify="right", style="bold")
    policy = _has_policy(graded)
    for head in ("taken off,\nlate", "final, with\nfree text") if policy else ():
        table.add_column(head, justify="right")
    names = list(course.exercises(assignment))
    for number, name in enumerate(names, 1):
        table.add_column(str(number) if short else name.replace("_", "_\n"), justify="center")
    for one in graded:
        marks = []
        for name in names:
            status = _status(one, name)
            marks.append(Text(html.status(status).symbol, COLOURS.get(status, "yellow")))
        shown = (_taken(one), _final(one)) if policy else ()
        table.add_row(Text(_plain(one.entry.student)), _score(one), *shown, *marks)
    return table


def _has_policy(graded: Sequence[Graded]) -> bool:
    return any(one.settled is not None for one in graded)


def _taken(one: Graded) -> str:
    return "–" if one.settled is None else f"{float(one.settled.penalty):g}"


def _final(one: Graded) -> str:
    points = final(one)
    return "–" if points is None else f"{points:g}"


def _score(one: Graded) -> str:
    return "–" if one.entry.not_graded else f"{one.entry.score:g}"


def _status(one: Graded, name: str) -> str:
    return "unreadable" if one.entry.unreadable else _line(one, name).status


def _line(one: Graded, name: str) -> Line:
    found = one.entry.line(name)
    assert found is not None  # what could be read has one for each exercise
    return found


def _cell(one: Graded, name: str, short: bool) -> Text:
    status = _status(one, name)
    shown = html.status(status).symbol if short else status
    colour = COLOURS.get(status, "yellow")
    if status == "passed":
        return Text(f"{_line(one, name).score:g}", colour)
    if one.entry.not_graded:
        return Text(shown, colour)
    points = 0.0 if one.entry.unreadable else _line(one, name).score
    return Text(f"{shown} {points:g}", colour)


def _plain(said: str) -> str:
    """One line, with control characters escaped."""
    return redaction.visible(" ".join(said.split()))


def show_likeness(alike: Likeness, console: Console) -> None:
    """Pairs that are alike, one a line, and what was not compared."""
    for pair in alike.pairs:
        said = ", ".join(one.exercise for one in pair.alike)
        names = f"{_plain(pair.one.student)} · {_plain(pair.other.student)}"
        console.print(Text(f"{pair.weight:5.0f}  {names}: alike in {said}"), soft_wrap=True)
    for student, said in alike.left_out:
        left = f"  not compared, or not in full: {_plain(student)}: {_plain(said)}"
        console.print(Text(left, style="dim"), soft_wrap=True)
    listed = html.counted(len(alike.pairs) + alike.more, "pair")
    count = html.counted(alike.compared, "submission")
    console.print(
        f"{count} compared, {listed} listed. It sorts and accuses nobody: read the passages.",
        highlight=False,
    )  # fmt: skip


def write_csv(path: Path, assignment: str, graded: Sequence[Graded]) -> Path:
    """A row for each student: score, maximum, free text; where there is a policy, what is taken off
    and what is left; then each exercise's points and status.
    """
    names = list(course.exercises(assignment))
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    heads = [head for name in names for head in (name, f"{name} status")]
    more = ["late_penalty", "final_score"] if _has_policy(graded) else []
    writer.writerow(["student", "score", "max_score", "manual_score", *more, *heads])
    for one in graded:
        entry = one.entry
        known = not entry.not_graded
        row = [inert(entry.student), entry.score if known else None, entry.max_score]
        row.append(one.manual_score)
        if more:
            taken = None if one.settled is None else float(one.settled.penalty)
            row += [taken, final(one)]
        for name in names:
            row += [_line(one, name).score if known else None, inert(_status(one, name))]
        writer.writerow(["" if value is None else value for value in row])
    writing.whole(path, out.getvalue().encode("utf-8", "replace"))
    return path
