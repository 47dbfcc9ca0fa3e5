"""The labs and what their exercises ask. No answer is in here: those are in `solutions/` alone."""

from __future__ import annotations

import functools
import importlib

from distlab import frameworks
from distlab.exercises import Exercise

#: lab (the nbgrader assignment) → the module that says what its exercises ask
LABS = {
    "01-message-passing": "distlab.course.message_passing",
    "02-toy-model": "distlab.course.toy_model",
    "03-cifar10-ddp": "distlab.course.cifar10_ddp",
    "04-ring-allreduce": "distlab.course.ring_allreduce",
    "05-scaling-up": "distlab.course.scaling_up",
    "06-model-parallel": "distlab.course.model_parallel",
    "07-horovod": "distlab.course.horovod",
    "08-tensorflow-strategies": "distlab.course.tensorflow_strategies",
}


def notebook_name(lab: str) -> str:
    """The file name of a lab's notebook: 01-message-passing → message_passing.ipynb."""
    return lab.split("-", 1)[1].replace("-", "_") + ".ipynb"


@functools.cache
def exercises(lab: str) -> dict[str, Exercise]:
    """The exercises of a lab by name, in the order of its notebook.

    Raises:
        ValueError: there is no such lab.
    """
    if lab not in LABS:
        raise ValueError(f"there is no lab {lab!r}; the labs are {', '.join(LABS)}")
    module = importlib.import_module(LABS[lab])
    return {exercise.name: exercise for exercise in module.EXERCISES}


def needs(lab: str) -> tuple[str, ...]:
    """The frameworks besides torch that a lab's exercises need, by their names in
    `distlab.frameworks`.
    """
    named = (name for exercise in exercises(lab).values() for name in exercise.needs)
    return tuple(dict.fromkeys(named))


def missing(lab: str) -> str:
    """One sentence on what a lab needs and this machine has not; empty where it has all."""
    return frameworks.missing(needs(lab), f"Lab {lab}")


def named(name: str) -> list[Exercise]:
    """The exercises of this name; two labs may have one each."""
    return [exercises(lab)[name] for lab in LABS if name in exercises(lab)]


def find(id: str) -> Exercise:
    """The exercise "lab/name", or the one of that name in any lab.

    Raises:
        ValueError: there is no such exercise.
    """
    lab, _, name = id.rpartition("/")
    for candidate in [lab] if lab else LABS:
        if name in exercises(candidate):
            return exercises(candidate)[name]
    raise ValueError(f"there is no exercise {id!r}")
