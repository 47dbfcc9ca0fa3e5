"""The course on disk: its labs, solutions, hidden cases and references."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import json
from pathlib import Path
from typing import Any

from distlab import course
from distlab.exercises import Case, Exercise
from distlab.reference import References
from grader.places import GRADES as GRADES
from grader.places import LABS, REFERENCE, SOLUTIONS
from grader.places import ROOT as ROOT


class GradingFailed(RuntimeError):
    """nbgrader could not do what it was asked for."""


def solution(lab: str) -> dict[str, Any]:
    """The hand-written notebook of a lab, parsed."""
    return _parsed(SOLUTIONS / lab / course.notebook_name(lab))


def released(lab: str) -> dict[str, Any]:
    """The students' notebook of a lab, parsed.

    Raises:
        FileNotFoundError: it was not generated yet.
    """
    return _parsed(LABS / lab / course.notebook_name(lab))


def _parsed(path: Path) -> dict[str, Any]:
    if not path.exists():
        raise FileNotFoundError(f"{path} is not there: generate it with `make labs`")
    return json.loads(path.read_text("utf-8"))


@functools.cache
def hidden(lab: str) -> dict[str, tuple[Case, ...]]:
    """The hidden cases of a lab's exercises."""
    module = course.LABS[lab].rsplit(".", 1)[1]
    cases = importlib.import_module(f"grader.cases.{module}").HIDDEN
    return {
        name: tuple(dataclasses.replace(case, hidden=True) for case in some)
        for name, some in cases.items()
    }


def cases(exercise: Exercise) -> tuple[Case, ...]:
    """All cases of an exercise, the visible ones first."""
    return (*exercise.visible, *hidden(exercise.lab).get(exercise.name, ()))


def reference(exercise: Exercise, case: Case) -> list[Any]:
    """The recorded outputs of a case, visible or hidden, by rank."""
    return _references(exercise.lab, case.hidden)(exercise, case)


@functools.cache
def _references(lab: str, is_hidden: bool) -> References:
    if is_hidden:
        return References(REFERENCE, lab)
    return References(SOLUTIONS / lab, "reference")
