"""What `distlab grade` and `distlab reference` do."""

from __future__ import annotations

import os
from pathlib import Path

from rich.console import Console
from rich.progress import Progress, TextColumn, TimeRemainingColumn

from distlab import course as labs
from grader import course, demo, table
from grader import grade as grading


def _named(assignments: list[str]) -> list[str]:
    for name in assignments:
        labs.exercises(name)  # says which labs there are, if this is none
    return list(assignments)


def grade(
    assignments: list[str],
    submitted: Path | None,
    student: str | None,
    jobs: int | None,
    demonstration: bool,
    cluster: str | None = None,
) -> list[dict]:
    """Grade assignments, print their tables, and say where everything lies; returns the reports."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=200)  # a file or a pipe has no width that a table must fit
    submitted = (submitted or grading.SUBMITTED).resolve()
    if demonstration:
        demo.build(submitted)
    chosen = _named(assignments) or [lab for lab in labs.LABS if any(submitted.glob(f"*/{lab}"))]
    if not chosen:
        raise grading.NothingSubmitted(
            f"there are no submissions below {submitted}: put notebooks there as "
            "STUDENT/ASSIGNMENT/NOTEBOOK.ipynb, or try `distlab grade --demo`"
        )
    reports = []
    jobs = jobs or os.cpu_count() or 1
    for assignment in chosen:
        graded = _graded(assignment, submitted, student, jobs, cluster, console)
        table.show(assignment, graded, console)
        out = course.GRADES / "out" / f"{assignment}.csv"
        table.write_csv(out, assignment, graded)
        console.print(f"  CSV       {_relative(out)}", highlight=False)
        console.print(
            f"  feedback  {_relative(graded[0].feedback)} and its like\n", highlight=False
        )
        reports.append(grading.report(assignment, graded))
    console.print(f"gradebook {_relative(course.GRADES / 'gradebook.db')}", highlight=False)
    if demonstration:
        for name, what in demo.CLASS.items():
            console.print(f"  {name:5} hands in {what}", style="dim", highlight=False)
    return reports


def _graded(assignment, submitted, student, jobs, cluster, console):
    found = grading.submissions(assignment, submitted, student)
    columns = (
        *Progress.get_default_columns()[:3],
        TimeRemainingColumn(),
        TextColumn("{task.fields[last]}"),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(assignment, total=len(found), last="")

        def advance(entry):
            progress.update(task, advance=1, last=f"{entry.student} {entry.score:g}")

        return grading.grade(assignment, submitted, student, jobs, advance, cluster)


def _relative(path: Path) -> str:
    return os.path.relpath(path)


def reference(action: str, assignments: list[str]) -> int:
    """Record or verify references; returns the exit status."""
    from grader import record

    status = 0
    for assignment in _named(assignments) or list(labs.LABS):
        if action == "record":
            print(f"{assignment}: {record.record(assignment)} cases recorded")
            continue
        differences = record.verify(assignment)
        print(
            f"{assignment}: " + ("as recorded" if not differences else f"{len(differences)} differ")
        )
        for said in differences:
            print(f"  {said}")
        status = 1 if differences else status
    return status
