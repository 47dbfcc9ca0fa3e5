"""What `distlab grade` and `distlab reference` do."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

from rich.console import Console

from distlab import course as labs
from distlab import frameworks, quoting
from distlab.ranks import SLURM
from grader import course, demo, progress, report, table
from grader import grade as grading
from grader.judges import Judges, appointed

SLURM_JOBS = 4  # submissions at once, a Slurm job: how many cores there are nobody knows here
JOBS = 2  # submissions at once, a core: half of the time of one is waiting


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
    for assignment in chosen:
        frameworks.need(*labs.needs(assignment), what=f"Lab {assignment}")
    reports = []
    jobs = jobs or (SLURM_JOBS if cluster == SLURM else JOBS * (os.cpu_count() or 1))
    with contextlib.closing(appointed(jobs, cluster)) as judges:
        for assignment in chosen:
            reports.append(_graded(assignment, submitted, student, judges, console))
    _say("gradebook", course.GRADES / "gradebook.db", console)
    if demonstration:
        for name, what in demo.CLASS.items():
            console.print(f"  {name:5} hands in {what}", style="dim", highlight=False)
    return reports


def _graded(
    assignment: str, submitted: Path, student: str | None, judges: Judges, console: Console
) -> dict:
    """Grade one assignment and write what is written on it; returns its report."""
    begin = time.monotonic()
    found = grading.submissions(assignment, submitted, student)
    with progress.Live(assignment, len(found), console) as live:
        graded = grading.grade(assignment, submitted, student, judges, live)
    took = time.monotonic() - begin
    table.show(assignment, graded, console)
    if student is None:  # what is written on a class stays when one student is graded again
        out = course.GRADES / "out" / f"{assignment}.csv"
        page = report.write(out.with_suffix(".html"), assignment, graded, took)
        _say("report", page, console)
        _say("CSV", table.write_csv(out, assignment, graded), console)
    if entered := [one.feedback for one in graded if one.feedback]:
        _say("feedback", entered[0].parent.parent / (student or "*") / assignment, console)
    console.print()
    return grading.report(assignment, graded)


def _say(what: str, path: Path, console: Console) -> None:
    said = quoting.visible(os.path.relpath(path))
    console.print(f"{what:9} {said}", highlight=False, markup=False, soft_wrap=True)


def watch(jobs: int | None) -> None:
    """Grade each submission as it arrives in nbgrader's exchange, until interrupted."""
    from grader import arrivals

    with contextlib.closing(appointed(jobs or JOBS)) as judges:
        arrivals.watch(judges)


def reference(action: str, assignments: list[str]) -> int:
    """Record or verify references; returns the exit status."""
    from grader import record

    status = 0
    for assignment in _named(assignments) or list(labs.LABS):
        if not assignments and (said := labs.missing(assignment)):
            print(f"{assignment}: left out. {said}")
            continue
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
