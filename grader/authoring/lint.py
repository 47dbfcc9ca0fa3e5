"""What a lab lacks, or what in it does not fit together, in one sentence each.

Nothing is run here: the tests check that answers are judged as they state, and `distlab reference
record` checks that a solution keeps its own exercise's rules.
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from distlab import course, notebook
from distlab.exercises import hints
from distlab.exercises.exercise import Exercise
from distlab.exercises.reference import NoReference
from grader import coursedir
from grader.collected import Answer, answers
from grader.paths import SOLUTIONS

#: collected answers that an exercise has at least
RIGHT, WRONG = 4, 8
#: stands in what `distlab new` writes, in each line that its author has to replace
AUTHOR = "AUTHOR:"
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"


def complaints(lab: str, only: str | None = None) -> Iterator[str]:
    """Sentences on a lab; none if nothing is missing.

    Args:
        only: an exercise, to look at this one alone.

    Raises:
        ValueError: there is no such lab.
    """
    if unlisted := list(_of_modules(lab)):
        yield from unlisted
        return
    exercises = course.exercises(lab)
    try:
        cells = _named(coursedir.solution(lab)["cells"])
    except FileNotFoundError:
        yield f"{lab} has no notebook: {course.notebook_name(lab)} belongs in {SOLUTIONS / lab}."
        return
    if only is not None:
        yield from _of_own_cells(exercises[only], cells)
        yield from _of_exercise(exercises[only])
        return
    yield from _of_cells(lab, cells, exercises)
    yield from _of_nobody(lab, exercises)
    if not list((SOLUTIONS / lab).glob("*.sbatch")):
        yield f"{lab} has no batch file: put one into {SOLUTIONS / lab}."
    yield from _unfinished(f"{lab}'s notebook", "\n".join(map(_source, _all(cells))))
    for exercise in exercises.values():
        yield from _of_exercise(exercise)


def unasked_hints(lab: str, only: str | None = None) -> Iterator[str]:
    """Sentences on hints that no collected answer gets: nothing shows whether they are right."""
    shared = {hint.name for hint in (*hints.FIRST, *hints.LAST, *hints.MESSAGES)}
    for exercise in course.exercises(lab).values():
        if only in (None, exercise.name):
            named = {one.expected.get("hint") for one in answers(lab, exercise.name)}
            for hint in exercise.hints:
                if hint.name not in named | shared:
                    yield f"{exercise.id}: no collected answer gets the hint {hint.name!r}."


def _of_modules(lab: str) -> Iterator[str]:
    """Sentences where the lab's list names other modules than those that have an exercise."""
    if lab not in course.LABS:
        return
    listed = importlib.import_module(course.LABS[lab]).EXERCISES
    asking = [
        path.stem
        for path in sorted(Path(course.__path__[0], course.package(lab)).glob("*.py"))
        if "\nexercise = " in path.read_text("utf-8")
    ]
    for name in listed:
        if name not in asking:
            yield f"{lab}: EXERCISES names {name}, and no {name}.py beside it has an `exercise`."
    for name in asking:
        if name not in listed:
            yield f"{lab}: {name}.py asks for something, and EXERCISES does not name it."


def _named(cells: Iterable[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Cells by nbgrader's name for them; those without one under ""."""
    found: dict[str, list[dict[str, Any]]] = {}
    for cell in cells:
        name = cell["metadata"].get("nbgrader", {}).get("grade_id", "")
        found.setdefault(name, []).append(cell)
    return found


def _all(cells: dict[str, list[dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    for some in cells.values():
        yield from some


def _source(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def _of_cells(
    lab: str, cells: dict[str, list[Any]], exercises: dict[str, Exercise]
) -> Iterator[str]:
    for name, some in cells.items():
        if name and len(some) > 1:
            yield f"{lab}: {len(some)} cells have the grade_id {name}: give each its own."
        if name.startswith("test_") and name.removeprefix("test_") not in exercises:
            yield f"{lab}: {name} tests no exercise: add it to the lab's EXERCISES."
    for cell in _all(cells):
        source = _source(cell)
        if source.count(BEGIN) != source.count(END):
            yield (
                f"{lab}: a cell has {BEGIN} without {END}, or the other way round, and `make labs` "
                f"would lose what follows: {source.splitlines()[0]!r}."
            )
    for exercise in exercises.values():
        yield from _of_own_cells(exercise, cells)


def _of_own_cells(exercise: Exercise, cells: dict[str, list[Any]]) -> Iterator[str]:
    own, test = cells.get(exercise.name), cells.get(f"test_{exercise.name}")
    if own is None:
        yield f"{exercise.id} has no solution cell: one with the grade_id {exercise.name}."
    elif BEGIN not in _source(own[0]):
        yield f"{exercise.id}: its solution cell has no {BEGIN}, so students would get all of it."
    elif not any(exercise.name in cell.defines() for cell in notebook.cells({"cells": own})):
        yield f"{exercise.id}: its solution cell does not define {exercise.name}."
    if test is None:
        yield f"{exercise.id} has no test cell: one with the grade_id test_{exercise.name}."
    elif "points" in test[0]["metadata"]["nbgrader"]:
        yield f"{exercise.id}: take `points` out of its test cell: its module alone has them."


def _of_nobody(lab: str, exercises: dict[str, Exercise]) -> Iterator[str]:
    """Sentences on what is left of exercises that are none, or not any more."""
    try:
        hidden = coursedir.hidden(lab)
    except ModuleNotFoundError as error:
        yield f"{lab} has no hidden cases at all: {error.name} is missing."
        return
    for name in hidden:
        if name not in exercises:
            yield f"{lab}: there are hidden cases of {name}, which is no exercise."
    for name in sorted({answer.exercise for answer in answers(lab)} - exercises.keys()):
        yield f"{lab}: there are collected answers of {name}, which is no exercise."


def _of_exercise(exercise: Exercise) -> Iterator[str]:
    try:
        hidden = coursedir.hidden(exercise.lab).get(exercise.name, ())
    except ModuleNotFoundError:
        hidden = ()
    if not hidden:
        yield f"{exercise.id} has no hidden cases: add HIDDEN to its module in grader/cases."
    if not exercise.asks:
        yield f"{exercise.id} does not say what it asks: one sentence in `asks`."
    yield from _unfinished(exercise.id, _module(exercise))
    try:
        for case in (*exercise.visible, *hidden):
            coursedir.reference(exercise, case)
    except NoReference:
        yield (
            f"{exercise.id} lacks references: `distlab reference record {exercise.lab} "
            f"{exercise.name}`."
        )
    yield from _of_answers(exercise, list(answers(exercise.lab, exercise.name)))


def _module(exercise: Exercise) -> str:
    path = Path(course.__path__[0], course.package(exercise.lab), f"{exercise.name}.py")
    return path.read_text("utf-8")


def _of_answers(exercise: Exercise, collected: list[Answer]) -> Iterator[str]:
    count = Counter(answer.right for answer in collected)
    for right, least in ((True, RIGHT), (False, WRONG)):
        if count[right] < least:
            kind = "right" if right else "wrong"
            yield f"{exercise.id} has {count[right]} {kind} answers, and should have {least}."
    for answer in collected:
        yield from _unfinished(f"{exercise.id}: {answer.path.name}", answer.source)


def _unfinished(whose: str, text: str) -> Iterator[str]:
    if AUTHOR in text:
        said = text.split(AUTHOR, 1)[1].splitlines()[0].strip(" .#\"'\\n")
        yield f"{whose} has a line that is still to be written: {said}."
