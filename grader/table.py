"""Grades as people look at them: a table in the terminal and a CSV file."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from distlab import course as labs
from grader.grade import Graded

COLOURS = {"passed": "green", "unanswered": "dim", "unreadable": "red"}


def show(assignment: str, graded: Sequence[Graded], console: Console) -> None:
    """Student × exercise → points and status."""
    table = Table(title=assignment, title_justify="left", show_lines=False, pad_edge=False)
    table.add_column("exercise", no_wrap=True)
    for one in graded:
        table.add_column(Text(one.entry.student), justify="right", no_wrap=True)
    for name, exercise in labs.exercises(assignment).items():
        cells = [_cell(one, name) for one in graded]
        table.add_row(f"{name} ({exercise.points})", *cells)
    table.add_section()
    table.add_row("score", *(f"{one.entry.score:g}" for one in graded), style="bold")
    table.add_row("of", *(f"{one.entry.max_score:g}" for one in graded))
    console.print(table)
    for one in graded:
        for said in [one.entry.unreadable] if one.entry.unreadable else one.entry.repaired[:3]:
            told = f"  {one.entry.student}: {said}"
            console.print(told, style="dim", highlight=False, markup=False)
        if one.problem:
            told = f"  {one.entry.student} is not in the gradebook: {one.problem}"
            console.print(told, style="red", highlight=False, markup=False)


def _cell(one: Graded, name: str) -> str:
    line = one.entry.line(name)
    status = "unreadable" if one.entry.unreadable else line.status
    colour = COLOURS.get(status, "yellow")
    if status == "passed":
        return f"[{colour}]{line.score:g}[/]"
    return f"[{colour}]{status} 0[/]"


def write_csv(path: Path, assignment: str, graded: Sequence[Graded]) -> Path:
    """One row a student: score, maximum, free text, then each exercise's points and status."""
    path.parent.mkdir(parents=True, exist_ok=True)
    names = list(labs.exercises(assignment))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        heads = [head for name in names for head in (name, f"{name} status")]
        writer.writerow(["student", "score", "max_score", "manual_score", *heads])
        for one in graded:
            entry = one.entry
            row = [_plain(entry.student), entry.score, entry.max_score, one.manual_score]
            for name in names:
                line = entry.line(name)
                row += [line.score, "unreadable" if entry.unreadable else line.status]
            writer.writerow(["" if value is None else value for value in row])
    return path


def _plain(text: str) -> str:
    """Text that no spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in tuple("=+-@\t\r") else text
