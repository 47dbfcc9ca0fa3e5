"""The course on disk: its labs, solutions, hidden cases and references."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import json
import pkgutil
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from distlab import course
from distlab.checking.judge_notebook import Lab
from distlab.exercises.exercise import Case, Exercise
from distlab.exercises.reference import NoReference, References
from grader import secret
from grader.cases import Drawn, Varied
from grader.paths import GRADES as GRADES
from grader.paths import LABS, SOLUTIONS
from grader.paths import ROOT as ROOT


class GradingFailed(RuntimeError):
    """Grading could not do what was asked for. The message says why, and what to do."""


class NotGraded(RuntimeError):
    """A submission could not be judged through no fault of its own. The message says why."""


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
    content: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return content


def hidden(lab: str) -> dict[str, tuple[Case, ...]]:
    """The hidden cases of a lab's exercises, as the secret in use makes them."""
    return _hidden(lab, secret.current())


@functools.cache
def _hidden(lab: str, of: secret.Secret) -> dict[str, tuple[Case, ...]]:
    return {
        name: tuple(_made(case, functools.partial(of.entropy, lab, name)) for case in some)
        for name, some in listed(lab)
    }


def listed(lab: str) -> Iterator[tuple[str, Sequence[Case | Drawn | Varied]]]:
    """(exercise, its cases) for each module of the lab's folder that has some."""
    package = importlib.import_module(f"grader.cases.{course.package(lab)}")
    for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        cases = getattr(importlib.import_module(found.name), "HIDDEN", None)
        if cases is not None:  # the other modules hold what several exercises share
            yield found.name.rpartition(".")[2], cases


def _made(case: Case | Drawn | Varied, entropy: Callable[[str], bytes]) -> Case:
    if isinstance(case, Varied):
        case = case.case
    if isinstance(case, Drawn):
        return case.made(entropy)
    return dataclasses.replace(case, hidden=True, entropy=entropy(case.key))


def cases(exercise: Exercise) -> tuple[Case, ...]:
    """All cases of an exercise, the visible ones first."""
    return (*exercise.visible, *hidden(exercise.lab).get(exercise.name, ()))


def reference(exercise: Exercise, case: Case) -> list[Any]:
    """The recorded outputs of a case, visible or hidden, by rank.

    Raises:
        NoReference: it was not recorded with the secret in use.
    """
    if case.hidden:
        return _references(secret.current().references, exercise.lab)(exercise, case)
    return _references(SOLUTIONS / exercise.lab, "reference")(exercise, case)


def lab(name: str, only: Collection[str] = ()) -> Lab:
    """What submissions of a lab are judged by, hidden cases included.

    Args:
        only: the names of the exercises to judge; all where none is named.
    """
    asked = course.exercises(name)
    if only:
        asked = {one: asked[one] for one in only}
    return Lab(released(name), asked, cases, reference)


def need_references(lab: str) -> None:
    """Raises:
    GradingFailed: a case of the lab has no reference outputs with the secret in use.
    """
    try:
        for exercise in course.exercises(lab).values():
            for case in cases(exercise):
                reference(exercise, case)
    except NoReference as error:
        raise GradingFailed(
            f"{lab} was not recorded with the secret in use, {secret.current().fingerprint}: run "
            f"`distlab reference record {lab}` ({error})"
        ) from error


@functools.cache
def _references(folder: Path, stem: str) -> References:
    return References(folder, stem)
