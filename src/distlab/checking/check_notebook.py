"""`distlab check`: a student's notebook by its visible cases, as Validate would, without a
gradebook.
"""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from distlab import course, notebook
from distlab.checking import own_inputs, submission
from distlab.checking.judge_notebook import Code, Grader, Lab
from distlab.checking.session import Source
from distlab.checking.spawned_session import SpawnedSession
from distlab.exercises import reference
from distlab.exercises.exercise import Exercise
from distlab.exercises.sources import Sources
from distlab.exercises.verdict import Verdict
from distlab.processes import frameworks, starting
from distlab.processes.zygote import PRELOAD


def lab_of(path: Path, content: dict[str, Any]) -> str:
    """The lab that a notebook belongs to: by its name, else by its exercises.

    Raises:
        ValueError: it is no lab of this course.
    """
    names = {cell.name for cell in notebook.cells(content) if cell.kind == "solution"}
    for lab in course.LABS:
        if path.name == course.notebook_name(lab):
            return lab
    # some names are those of exercises in two labs
    shared = {lab: len(names & set(course.exercises(lab))) for lab in course.LABS}
    best = max(shared, key=lambda lab: shared[lab])
    if shared[best]:
        return best
    raise ValueError(f"{path.name} is no notebook of this course: it holds none of its exercises")


def check_notebook(path: Path) -> list[Verdict]:
    """The verdicts on the visible cases of all exercises of a notebook, in their order.

    The references are those beside the notebook, as the lab was released, or those of the
    student's own inputs.

    Raises:
        Missing: the lab needs a framework that is not installed.
        NoReference: the references are not there.
    """
    content, folder = submission.read(path), path.absolute().parent
    lab = lab_of(path, content)
    frameworks.need(*course.needs(lab), what=f"Lab {lab}")
    usual = reference.released(folder, lab, _instead(path, lab))
    found = {
        name: own_inputs.asked(exercise, folder) for name, exercise in course.exercises(lab).items()
    }
    asked = Lab(
        _blank(content), {name: exercise for name, (exercise, _, _) in found.items()},
        lambda exercise: exercise.visible,
        lambda exercise, case: (found[exercise.name][1] or usual)(exercise, case),
    )  # fmt: skip
    way = starting.way()
    grader, plan = Grader(asked) if way.forks else _Spawning(asked), asked.plan(content)
    sizes = [case.size for name in plan.answered for case in asked.exercises[name].visible]
    with _within(folder), way.source((*PRELOAD, *frameworks.preload())) as source:
        if sizes:
            source.prepare(1 + max(sizes))  # one process for the cells
        return grader.grade(plan, source)


@contextlib.contextmanager
def _within(folder: Path) -> Iterator[None]:
    """Meanwhile this process, and what it starts, is in a folder: modules are found there."""
    before = os.open(".", os.O_RDONLY)
    try:
        os.chdir(folder)
        yield
    finally:
        os.fchdir(before)
        os.close(before)


def _instead(path: Path, lab: str) -> str:
    """What to do where the references are not beside a notebook."""
    if reference.in_repository(path.resolve().parent, lab):
        return f"record it with `distlab reference record {lab}`, then `make labs`"
    fetch = f"distlab fetch {lab} {shlex.quote(str(path.parent))}"
    return (
        f"check the notebook in the folder that it came in, or say `{fetch}`, which brings what "
        "is missing and keeps what is there"
    )


class _Spawning(Grader):
    """Has a notebook's code run in processes that are spawned."""

    together = False  # ranks are kept anyway, and there is no other room to judge again in

    def session(self, source: Source) -> Code:
        return SpawnedSession(source)

    def judged(self, exercise: Exercise, session: Code, plan: submission.Plan) -> Verdict:
        try:
            if exercise.forks:
                starting.refuse_elsewhere(exercise.name)
        except starting.NeedsLinux as error:
            return Verdict(exercise, "unanswered", exercise.asks, f"{error}.")
        return super().judged(exercise, session, plan)


def _blank(content: dict[str, Any]) -> dict[str, Any]:
    """The notebook with only those answers that nobody has written: what "left as it was" means
    without the course at hand.
    """
    return {**content, "cells": [cell for cell in content["cells"] if _is_released(cell)]}


def _is_released(cell: Any) -> bool:
    """Does this cell hold an answer as it was released?"""
    return any(
        one.kind == "solution" and Sources({one.name: one.source}).is_released(one.name)
        for one in notebook.cells({"cells": [cell]})
    )


def own_said(path: Path, lab: str) -> str:
    """A sentence on whose inputs were used; empty where they are the lab's usual ones."""
    own, said = own_inputs.found(lab, path.parent)
    return f"These were {own.student}'s own inputs." if own else said


def report(path: Path, verdicts: list[Verdict]) -> dict[str, Any]:
    """The JSON report of DESIGN.md for one notebook."""
    lines = [
        {"name": v.exercise.name, "score": v.score, "max_score": float(v.exercise.points),
         "status": v.status, "message": v.message}
        for v in verdicts
    ]  # fmt: skip
    return {
        "assignment": verdicts[0].exercise.lab,
        "submissions": [{
            "student": path.absolute().parent.parent.name, "score": sum(v.score for v in verdicts),
            "max_score": float(sum(v.exercise.points for v in verdicts)),
            "seconds": round(sum(v.seconds for v in verdicts), 3), "exercises": lines,
        }],
    }  # fmt: skip
