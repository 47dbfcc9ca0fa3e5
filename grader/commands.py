"""What `distlab grade` and `distlab reference` do."""

from __future__ import annotations

import contextlib
import difflib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from distlab import course
from distlab.cli import labs
from distlab.engines.ranks import SLURM
from distlab.processes import frameworks, temporary
from distlab.records import redaction
from grader import coursedir, secret
from grader.judging import basis, demo, handed_in
from grader.judging import grade as grading
from grader.judging.handed_in import MOST_TOLD
from grader.judging.judges import Judges, local_judges, make_judges
from grader.judging.ledger import Ledger
from grader.likeness import section
from grader.looks.diary import Damaged, Diary, State
from grader.policy import policy as policies
from grader.policy.commands import students as all_known
from grader.policy.roster import RosterFile
from grader.policy.rules import PolicyError
from grader.reports import progress, rendering, report, table
from grader.reports.output import output
from grader.sandbox.ahead import Ahead

if TYPE_CHECKING:
    from grader.plugins.gradebook import Gradebook

SLURM_JOBS = 4  # submissions at once in a Slurm job, whose number of cores is not known here
JOBS = 2  # submissions at once for each core: half the time of one is waiting


def _named(assignments: list[str]) -> list[str]:
    return [labs.named(name) for name in assignments]


def grade(
    assignments: list[str],
    submitted: Path | None,
    students: Collection[str] | None,
    jobs: int | None,
    demonstration: bool,
    cluster: str | None = None,
    ahead: Ahead | None = None,
) -> list[dict[str, Any]]:
    """Grade assignments, print their tables, and say where everything lies; returns the reports.

    Args:
        students: the ones whose submissions are asked for; all where it is `None`.
        ahead: the sandbox, if it is being tried out already.
    """
    _need_nbgrader()
    console = output()
    submitted = (submitted or grading.SUBMITTED).resolve()
    if demonstration:
        demo.build(submitted)
    chosen = _named(assignments) or [lab for lab in course.LABS if any(submitted.glob(f"*/{lab}"))]
    if not chosen:
        raise grading.NothingSubmitted(
            f"there are no submissions below {submitted}: put notebooks there as "
            "STUDENT/ASSIGNMENT/NOTEBOOK.ipynb, or try `distlab grade --demo`"
            + handed_in.others(submitted)
        )
    if students is not None:
        chosen = _handed_in(chosen, submitted, students)
    for assignment in chosen:
        frameworks.need(*course.needs(assignment), what=f"Lab {assignment}")
    _have_folder()
    policies.current()  # a mistake in it is reported before anything is judged
    basis.begin(chosen)
    reports = []
    jobs = jobs or (SLURM_JOBS if cluster == SLURM else JOBS * (os.cpu_count() or 1))
    with contextlib.closing(make_judges(jobs, cluster, ahead)) as judges:
        for assignment in chosen:
            reports.append(_graded(assignment, submitted, students, judges, console))
    _say("gradebook", coursedir.GRADES / "gradebook.db", console)
    if students is None and (said := handed_in.others(submitted)):
        console.print(f"submitted{said}", style="red", markup=False, soft_wrap=True)
    if basis.changed(chosen):
        said = "The course has changed since this began: run the same command again."
        console.print(said, style="yellow", soft_wrap=True)
    if demonstration:
        for name, what in demo.CLASS.items():
            console.print(f"  {name:5} hands in {what}", style="dim", highlight=False)
    return reports


def _handed_in(chosen: list[str], submitted: Path, students: Collection[str]) -> list[str]:
    """Those of some labs of which one of the students has handed in something.

    Raises:
        NothingSubmitted: a student has handed in nothing of any of them.
    """
    of = {lab: {one.student for one in grading.submissions(lab, submitted)} for lab in chosen}
    for name in {*students}.difference(*of.values()):
        grading.submissions(chosen[0], submitted, name)  # says that there is none
    return [lab for lab in chosen if not of[lab].isdisjoint(students)]


def _need_nbgrader() -> None:
    """Raises:
    GradingFailed: the installed nbgrader must not be used.
    """
    if said := frameworks.nbgrader_too_old():
        raise grading.GradingFailed(said)


def _have_folder() -> None:
    """Make the folder that DISTLAB_GRADES names, so that nothing is judged in vain, and remove what
    killed commands have left in TMPDIR.

    Raises:
        GradingFailed: it cannot be written.
    """
    temporary.sweep()
    try:
        coursedir.GRADES.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=coursedir.GRADES):
            pass
    except OSError as error:
        raise grading.GradingFailed(
            f"gradebook, feedback and tables cannot be written to {coursedir.GRADES} "
            f"({error.strerror}): let DISTLAB_GRADES name a folder that you can write to"
        ) from error


def _graded(
    assignment: str,
    submitted: Path,
    students: Collection[str] | None,
    judges: Judges,
    console: Console,
) -> dict[str, Any]:
    """Grade one assignment, print its table and write its pages; returns its report."""
    from grader.plugins.gradebook import Gradebook  # nbgrader takes seconds to import

    begin = time.monotonic()
    found = grading.submissions(assignment, submitted, students)
    missing = sorted({*(students or ())} - {one.student for one in found})
    with progress.Live(assignment, len(found), console) as live:
        graded = grading.grade(assignment, submitted, students, judges, live)
    took = time.monotonic() - begin
    table.show(assignment, graded, console)
    if students is None:  # the class's pages stay as they are when one student is graded again
        out = coursedir.GRADES / "out" / f"{assignment}.csv"
        alike = section.find(assignment, submitted, [one.entry for one in graded])
        book = Gradebook(grading.SUBMITTED)
        gone, missing = _others(book, assignment, submitted)
        if gone:
            console.print(_gone(gone), style="yellow", markup=False, soft_wrap=True)
        state, unread = _looks(book, console)
        page = report.write(
            out.with_suffix(".html"), assignment, graded, took, alike=alike, state=state,
            unread=unread, missing=missing,
        )  # fmt: skip
        _say("report", page, console)
        _say("CSV", table.write_csv(out, assignment, graded), console)
    if entered := [one.feedback for one in graded if one.feedback]:
        whose = entered[0].parent.name if len(graded) == 1 else "*"
        _say("feedback", entered[0].parent.parent / whose / assignment, console)
    if missing:
        said = f"Nothing handed in: {_listed(missing)}."
        console.print(said, style="yellow", markup=False, soft_wrap=True)
    console.print()
    return grading.report(assignment, graded) | ({"not_handed_in": missing} if missing else {})


def _others(book: Gradebook, assignment: str, submitted: Path) -> tuple[list[str], list[str]]:
    """Those whose submissions are in the gradebook alone, and those who are known and have handed
    in nothing; nobody if the gradebook cannot be asked now.
    """
    try:
        gone, known = book.students(assignment), all_known(RosterFile().read())
        # looked for once more: some may have come while the others were graded
        there = {one.student for one in grading.submissions(assignment, submitted)}
    except (grading.NothingSubmitted, grading.GradingFailed, PolicyError):
        return [], []
    # who has handed in something in another shape is told below
    odd = {re.split(r"/| \(", each)[0] for each in handed_in.passed_over(submitted)}
    missing = {name for name in known - gone - there if redaction.shown(name) not in odd}
    return sorted(gone - there), sorted(missing)


def _gone(names: list[str]) -> str:
    """What is said of those whose submissions are in the gradebook alone."""
    return (
        f"In the gradebook, and not among these submissions: {_listed(names)}. They keep their "
        "points and are exported with the others. `nbgrader db student remove NAME --force` takes "
        "out whoever has left or has another name by now, with what was given by hand in all labs."
    )


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - MOST_TOLD} more" if len(names) > MOST_TOLD else ""
    return ", ".join(map(redaction.shown, names[:MOST_TOLD])) + more


def _looks(book: Gradebook, console: Console) -> tuple[State, str]:
    """What students have asked, including what has only just arrived; or why nobody can tell."""
    from grader.looks import commands

    told = commands.collect(book)
    state, unread = State(), ""
    try:
        state = Diary().read()
    except Damaged as error:  # the class has its report all the same
        unread = str(error)
        told = [*told, *({unread} - set(told))]
    for said in told:
        console.print(redaction.visible(said), highlight=False, markup=False, soft_wrap=True)
    return state, unread


def _say(what: str, path: Path, console: Console) -> None:
    said = redaction.visible(os.path.relpath(path))
    console.print(f"{what:9} {said}", highlight=False, markup=False, soft_wrap=True)


def likeness(assignment: str, submitted: Path | None) -> int:
    """Print which graded submissions are alike, and write the page; returns the exit status: 1 if
    that failed.
    """
    (assignment,) = _named([assignment])
    console = output()
    submitted = (submitted or grading.SUBMITTED).resolve()
    entries = list(Ledger(coursedir.GRADES / "ledger").counting(assignment))
    if not entries:
        raise grading.NothingSubmitted(
            f"no submission of {assignment} has been graded yet: run `distlab grade {assignment}`"
        )
    alike = section.find(assignment, submitted, entries)
    if alike is None:
        return 1
    table.show_likeness(alike, console)
    page = coursedir.GRADES / "out" / f"{assignment}-likeness.html"
    _say("page", report.write_likeness(page, assignment, alike), console)
    return 0


def watch(jobs: int | None, ahead: Ahead | None = None) -> None:
    """Grade each submission as it arrives in nbgrader's exchange, until interrupted, or until the
    course has changed.
    """
    from grader.plugins import autograde_on_submit

    _need_nbgrader()
    _have_folder()
    judging = contextlib.closing(local_judges(jobs or JOBS, ahead))
    # this process may go on as another program, which would know nothing of the renderer's
    with contextlib.closing(rendering.renderer()), judging as judges:
        autograde_on_submit.watch(judges)


def _chosen(words: list[str]) -> list[tuple[str, str | None]]:
    """(lab, exercise or `None` for all) that words choose: labs, each with the exercises that are
    named behind it. All labs if there is no word.

    Raises:
        Mistaken: a word is neither a lab nor an exercise of the lab before it.
    """
    chosen: list[tuple[str, str | None]] = []
    for word in words:
        if chosen and word in course.exercises(chosen[-1][0]):
            if chosen[-1][1] is None:
                chosen[-1] = chosen[-1][0], word
            else:
                chosen.append((chosen[-1][0], word))
        else:
            chosen.append((_lab(word, chosen[-1][0] if chosen else None), None))
    return chosen or [(lab, None) for lab in course.LABS]


def _lab(word: str, before: str | None) -> str:
    """The lab that a word names, which might have been meant for an exercise of the lab before."""
    try:
        return labs.named(word)
    except labs.Mistaken as error:
        if before is None or word[:1].isdigit():
            raise
        like = difflib.get_close_matches(word, course.exercises(before), 1)
        meant = f" (did you mean {like[0]}?)" if like else ""
        raise labs.Mistaken(
            f"{before} has no exercise {word[:60]!r}{meant}, and no lab is called that"
        ) from error


def reference(action: str, assignments: list[str]) -> int:
    """Record or verify references; returns the exit status."""
    from grader.judging import record

    status, chosen = 0, _chosen(assignments)
    print(f"Hidden cases are made with {secret.current().told()}.")
    if action == "record" and not secret.current().is_public:
        print(
            "hidden cases alone: those of visible ones belong to the repository, and are recorded "
            f"with {secret.VARIABLE}={secret.PUBLIC}"
        )
    for assignment, only in chosen:
        if not assignments and (said := course.missing(assignment)):
            print(f"{assignment}: left out. {said}")
            continue
        if action == "record":
            print(f"{assignment}: {record.record(assignment, only)} cases recorded")
            continue
        differences = record.verify(assignment, only)
        count = f"{len(differences)} differ{'s' * (len(differences) == 1)}"
        print(f"{assignment}: {count if differences else 'as recorded'}")
        for said in differences:
            print(f"  {said}")
        status = 1 if differences else status
    return status


def new_lab(lab: str) -> int:
    """Begin a lab; returns the exit status."""
    from grader.authoring import new

    return _begun(new.lab(lab), f"distlab new exercise {lab} NAME")


def new_exercise(lab: str, name: str) -> int:
    """Begin an exercise of a lab; returns the exit status."""
    from grader.authoring import new

    written = new.exercise(lab, name)
    then = f"distlab reference record {lab} {name}, make labs, and distlab lint {lab}"
    return _begun(written, then)


def _begun(written: Iterable[Path], then: str) -> int:
    for path in written:
        print(path.relative_to(coursedir.ROOT))
    print(f"Lines with AUTHOR: are yours to write. Next: {then}")
    return 0


def lint(words: list[str], hints: bool = False) -> int:
    """Print what labs or exercises lack; returns the exit status: 1 if they lack anything.

    Args:
        hints: also name the hints that no collected answer gets, which nothing demands.
    """
    from grader.authoring.lint import complaints, unasked_hints

    chosen = _chosen(words)
    found = [said for one in chosen for said in complaints(*one)]
    for said in found + [said for one in chosen for said in unasked_hints(*one) if hints]:
        print(said)
    return 1 if found else 0


def new_secret(assignments: list[str], file: Path | None, force: bool) -> int:
    """Make a secret of the course's own and record hidden references for it; returns the exit
    status: 1 if a solution failed.
    """
    path = (file.expanduser().absolute() if file else secret.chosen_path()) or secret.default_path()
    chosen = _named(assignments) or list(course.LABS)
    new = secret.draw(path, force)
    print(f"A new secret, {new.fingerprint}. Recording takes a few minutes:", flush=True)
    try:
        with secret.using(new):
            left, failed = _recorded(chosen)
        before = secret.keep(new)  # only now: whoever grades meanwhile goes on with the old one
    except BaseException:
        shutil.rmtree(new.references, ignore_errors=True)
        raise
    print(f"The secret is in {path}, the references in {new.references}. Keep a copy of both.")
    print("Submissions that were graded before are judged again when they are next graded.")
    if before:
        print(f"The old secret is kept: {secret.VARIABLE}={before} grades with it.")
    if left:
        print(f"To be able to grade the rest: `distlab reference record {' '.join(left)}`")
    if path != secret.chosen_path():  # where grading looks for it
        print(f"Set {secret.VARIABLE}={path}, or c.Grading.secret in nbgrader_config.py.")
    return 1 if failed else 0


def _recorded(chosen: list[str]) -> tuple[list[str], bool]:
    """Record labs with the secret in use; returns those left out, and whether a solution failed."""
    from grader.judging import record

    left, failed = [lab for lab in course.LABS if lab not in chosen], False
    for lab in chosen:
        if said := course.missing(lab):
            print(f"{lab}: left out. {said}", flush=True)
            left.append(lab)
            continue
        try:
            print(f"{lab}: {record.record(lab)} cases recorded", flush=True)
        except record.SolutionFailed as error:
            print(f"{lab}: left out. {error}", flush=True)
            left.append(lab)
            failed = True
    return left, failed
