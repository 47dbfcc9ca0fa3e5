"""Cases whose parameters are all that there is."""

from typing import Any

from distlab.exercises.exercise import Case


def case(**params: Any) -> Case:
    return Case(1, 0, params)
