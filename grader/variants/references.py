"""The reference outputs of a student's variant: those of the solution, run in the sandbox.

The referee imports no torch and runs no student code, so the solution runs where submissions do, in
a session of its own that ends before the submission's begins. Its outputs are kept below
`own-references` beside the gradebook, by exercise, until the course changes.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import shutil
import tempfile
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from distlab import course
from distlab.checking import submission
from distlab.checking.judge_notebook import CELL_LIMIT, AlwaysFree, Code, Grader, Lab, Turns
from distlab.checking.session import RoomLost, Source
from distlab.checking.submission import Plan
from distlab.exercises.exercise import Case, Exercise
from distlab.exercises.judge import judge
from distlab.exercises.reference import NoReference, References, write
from distlab.processes import payload
from grader import coursedir, secret, writing
from grader.coursedir import GradingFailed, NotGraded
from grader.judging.basis import variants_digest
from grader.sandbox import bubblewrap
from grader.variants import variant as variants
from grader.variants.variant import Variant

FOLDER = coursedir.GRADES / "own-references"
PATIENCE = 60.0  # seconds that the solution of one exercise may take for a case
_STEM = "reference"


class SolutionFailed(RuntimeError):
    """The reference solution did not do what its exercise asks, with a student's inputs."""


def lab(whose: Variant, names: Collection[str] = ()) -> Lab:
    """The lab that a student's submissions are judged by: with the cases of their variant.

    Args:
        names: the exercises that are wanted; all if none is named.
    """
    asked = coursedir.lab(whose.lab, names)
    return dataclasses.replace(
        asked,
        cases=functools.partial(variants.cases, whose),
        reference=functools.partial(reference, whose),
    )


def reference(whose: Variant, exercise: Exercise, case: Case) -> list[Any]:
    """The outputs of one of a student's cases, by rank.

    Raises:
        NoReference: `need` was not called before.
    """
    return _read(_place(whose, exercise.name))(exercise, case)


def need(
    whose: Variant, names: Collection[str], grader: Grader, source: Source,
    turns: Turns | None = None,
) -> None:  # fmt: skip
    """Make the references of these exercises, unless they are kept already.

    Args:
        grader: with which limits, and where, sessions run that are forked from `source`.
        turns: the solution is run again alone before it counts as failed.

    Raises:
        NotGraded: the solution failed, which says nothing about the submission.
        GradingFailed: there is no safe place for them.
        SessionLost, ZygoteLost: the sandbox was lost.
    """
    left = missing(whose, names)
    if not left:
        return
    _refuse_exposed()
    free = turns or AlwaysFree()
    try:
        with contextlib.suppress(SolutionFailed), free.shared():
            _make(whose, left, grader, source)
            return
        with free.alone():
            _make(whose, missing(whose, left), grader, source)
    except SolutionFailed as error:
        raise NotGraded(
            f"with this student's own inputs {error}. That is the course's fault, not the "
            "student's: grade it again, and if it stays so switch `variants` off for this lab in "
            "the policy and report it"
        ) from error


def _refuse_exposed() -> None:
    """Raises:
    GradingFailed: submissions could read the references that are kept.
    """
    for folder in bubblewrap.shown():
        if FOLDER.resolve().is_relative_to(folder.resolve()):
            raise GradingFailed(
                f"references of students' own inputs cannot be kept in {FOLDER}, since student "
                f"code can read {folder}: name another folder in DISTLAB_GRADES"
            )


def missing(whose: Variant, names: Collection[str]) -> list[str]:
    """Those of these exercises that have no references kept, in the lab's order."""
    asked = [name for name in course.exercises(whose.lab) if name in names]
    return [name for name in asked if not _kept(whose, name)]


def _make(whose: Variant, names: Collection[str], grader: Grader, source: Source) -> None:
    """Run the solution and keep its outputs, exercise by exercise.

    Raises:
        SolutionFailed: it failed in an exercise; the outputs of those before it are kept.
    """
    plan = _solution(whose.lab)
    with grader.session(source) as session:
        try:
            problems = session.cells(plan.cells, CELL_LIMIT, plan.answered)
            if failed := [name for name in names if name in problems]:
                said = problems[failed[0]]["message"]
                raise SolutionFailed(f"the solution's cell of {failed[0]} did not run ({said})")
            for name in names:
                exercise = course.exercises(whose.lab)[name]
                cases = variants.cases(whose, exercise)
                outputs = [_output(session, exercise, case, plan) for case in cases]
                session.end_room()
                _keep(whose, name, outputs)
        except RoomLost as error:
            raise SolutionFailed(f"the solution was lost ({error})") from error


def _output(
    session: Code, exercise: Exercise, case: Case, plan: Plan
) -> tuple[Exercise, Case, list[Any]]:
    """A case with its exercise, whose inputs are made once, and with what the solution returns on
    each rank, after a check that it keeps the exercise's rules.
    """
    inputs = exercise.inputs(case)  # made once: some are large
    # one schedule will do: the values are the same in all
    exercise = dataclasses.replace(exercise, make=lambda _: inputs, schedules=False)
    run = session.run(exercise.id, exercise.payloads(inputs), PATIENCE)
    if not run.ok:
        how = run.finding.kind if run.finding else "it did not end" if run.timed_out else "an error"
        raise SolutionFailed(f"the solution of {exercise.name} failed ({how})")
    try:
        values = [payload.decode(outcome.output) for outcome in run.outcomes]
    except ValueError as error:
        raise SolutionFailed(f"the solution of {exercise.name} gave no output") from error
    verdict = judge(exercise, [case], lambda *_: values, lambda *_, **__: run, plan.sources)
    if verdict.status != "passed":
        raise SolutionFailed(
            f"the solution of {exercise.name} breaks the exercise's own rules ({verdict.status})"
        )
    return exercise, case, values


@functools.cache
def _solution(lab: str) -> Plan:
    """The cells of the solution's notebook that are run."""
    rebuilt, _ = submission.rebuild(coursedir.released(lab), coursedir.solution(lab))
    return coursedir.lab(lab).plan(rebuilt)


def _place(whose: Variant, exercise: str) -> Path:
    """Where the references of an exercise are kept, for the course as it is now."""
    digest = variants_digest(whose.lab, secret.current())[:16]
    return FOLDER / whose.lab / whose.fingerprint / f"{exercise}-{digest}"


def _kept(whose: Variant, name: str) -> bool:
    """Are there references for all cases of an exercise, as they are now?"""
    exercise = course.exercises(whose.lab)[name]
    try:
        for case in variants.cases(whose, exercise):
            reference(whose, exercise, case)
    except NoReference:
        return False
    return True


@functools.lru_cache(maxsize=64)
def _read(place: Path) -> References:
    return References(place, _STEM)


def _keep(whose: Variant, name: str, outputs: list[tuple[Exercise, Case, list[Any]]]) -> None:
    """Write the references of an exercise, whole or not at all, in place of older ones.

    Raises:
        NotWritten
    """
    place = _place(whose, name)
    with writing.reported(place):
        for folder in (FOLDER, FOLDER / whose.lab, place.parent):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for left in (*place.parent.glob(f"{name}-*"), *_abandoned(place.parent)):
        shutil.rmtree(left, ignore_errors=True)
    with writing.reported(place), _fresh(place) as fresh:
        write(fresh, _STEM, {"variant": whose.fingerprint}, outputs)
        with contextlib.suppress(OSError):  # another process has made the same
            os.rename(fresh, place)
    _read.cache_clear()  # it may know what was replaced


def _abandoned(folder: Path) -> Iterator[Path]:
    """What killed graders have left unfinished: nobody writes for an hour."""
    for left in folder.glob(".*"):
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > 3600:
                yield left


@contextlib.contextmanager
def _fresh(place: Path) -> Iterator[Path]:
    fresh = Path(tempfile.mkdtemp(prefix=f".{place.name}-", dir=place.parent))
    try:
        yield fresh
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
