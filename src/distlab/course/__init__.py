"""The labs and what their exercises ask. No answer is in here: those are in `solutions/` alone."""

from __future__ import annotations

import difflib
import functools
import importlib
import pkgutil

from distlab.exercises.defaults import completed
from distlab.exercises.exercise import Exercise
from distlab.processes import frameworks
from distlab.processes.told_alone import ToldAlone


class NoExercise(ToldAlone, ValueError):
    """There is no exercise of this name."""


def _found() -> dict[str, str]:
    """The folders of this package that are labs, in their order."""
    names = sorted(one.name for one in pkgutil.iter_modules(__path__) if one.name[:3] == "lab")
    return {f"{name[3:5]}-{name[6:].replace('_', '-')}": f"{__name__}.{name}" for name in names}


#: lab (the nbgrader assignment) → the package that says what its exercises ask
LABS = _found()


def package(lab: str) -> str:
    """The name of a lab's package: 01-message-passing → lab01_message_passing."""
    return "lab" + lab.replace("-", "_")


def notebook_name(lab: str) -> str:
    """The file name of a lab's notebook: 01-message-passing → message_passing.ipynb."""
    return lab.split("-", 1)[1].replace("-", "_") + ".ipynb"


@functools.cache
def exercises(lab: str) -> dict[str, Exercise]:
    """The exercises of a lab by name, in the order of its notebook, with what all of them share.

    A lab's package lists the names in `EXERCISES`; what one of them asks is `exercise` in the
    module of that name.

    Raises:
        ValueError: there is no such lab.
    """
    if lab not in LABS:
        raise ValueError(f"there is no lab {lab!r}; the labs are {', '.join(LABS)}")
    names = importlib.import_module(LABS[lab]).EXERCISES
    asked = {name: importlib.import_module(f"{LABS[lab]}.{name}").exercise for name in names}
    return {name: completed(one, lab, name) for name, one in asked.items()}


def load() -> None:
    """Import all exercises now, for the processes that this one forks."""
    for lab in LABS:
        exercises(lab)


def needs(lab: str) -> tuple[str, ...]:
    """The frameworks besides torch that a lab's exercises need, by their names in
    `distlab.processes.frameworks`.
    """
    named = (name for exercise in exercises(lab).values() for name in exercise.needs)
    return tuple(dict.fromkeys(named))


def trains(lab: str) -> bool:
    """Do its ranks need what `torch.optim` and DDP import at their first use
    (`zygote.TRAINING_PRELOAD`)? Where they don't, a lab's package says `TRAINS = False`, and a
    single submission is graded without waiting for it.
    """
    return getattr(importlib.import_module(LABS[lab]), "TRAINS", True)


def missing(lab: str) -> str:
    """One sentence on what a lab needs and this machine has not; empty where it has all."""
    return frameworks.missing(needs(lab), f"Lab {lab}")


def named(name: str) -> list[Exercise]:
    """The exercises of this name; two labs may have one each."""
    return [exercises(lab)[name] for lab in LABS if name in exercises(lab)]


def find(id: str) -> Exercise:
    """The exercise "lab/name", or the one of that name in any lab.

    Raises:
        NoExercise: there is no such exercise.
    """
    lab, _, name = id.rpartition("/")
    for candidate in [lab] if lab else LABS:
        if name in exercises(candidate):
            return exercises(candidate)[name]
    known = [one for candidate in LABS for one in exercises(candidate)]
    like = difflib.get_close_matches(name, known, 1)
    raise NoExercise(
        f"there is no exercise {id!r}" + (f": did you mean {like[0]}?" if like else "")
    )
