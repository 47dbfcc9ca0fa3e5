"""Hidden cases, a folder a lab and a module an exercise: its `HIDDEN` are the cases beyond the
visible ones. What several exercises share stands beside them.

What a case is made of comes from the course's secret (`grader.secret`): its random numbers, and of
a `Drawn` case its parameters too. The seeds written here only number the cases.

Where students have inputs of their own (`grader.variants`), random numbers and what is `Drawn` are
each student's. What else of a case is theirs is said beside it: of a hidden case by `Varied`, of
the visible ones by the module's `VISIBLE`. World sizes, shapes and the number of cases are the same
for all, and with them time, difficulty and what of an answer is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from distlab.exercises.exercise import Case


class Chance:
    """Draws the parameters of a case."""

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator

    def whole(self, least: int, most: int) -> int:
        """A whole number from `least` to `most`, both included."""
        return int(self._generator.integers(least, most + 1))

    def around(self, value: float) -> Any:
        """A number of the type of `value`, at most three tenths of it away."""
        factor = self._generator.uniform(0.7, 1.3)
        return max(1, round(value * factor)) if isinstance(value, int) else value * factor

    def like(self, value: Any) -> Any:
        """`around` each number of a value; a zero, and what is no number, stays as it is."""
        if isinstance(value, list):
            return [self.like(item) for item in value]
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return self.around(value) if number and value else value

    def order(self, items: Sequence[Any]) -> list[Any]:
        """The items in another order, or in the same."""
        return [items[i] for i in self._generator.permutation(len(items))]

    def rising(self, count: int, least: int, most: int) -> list[int]:
        """So many different whole numbers from `least` to `most`, the smallest first."""
        drawn = self._generator.choice(most + 1 - least, count, replace=False)
        return sorted(int(number) + least for number in drawn)


@dataclass(frozen=True)
class Drawn:
    """A hidden case whose parameters the course's secret decides.

    For exercises whose inputs are their parameters: with numbers that the repository holds, a table
    of answers would do.
    """

    size: int
    seed: int
    params: Callable[[Chance], Mapping[str, Any]]

    def made(self, entropy: Callable[[str], bytes]) -> Case:
        """The case that a secret makes of it. `entropy`: 128 bits by the name of a case."""
        own = entropy(Case(self.size, self.seed).key)
        chance = Chance(Case(self.size, self.seed, entropy=own).generator(stream=-1))
        return Case(self.size, self.seed, self.params(chance), True, own)


#: draws the parameters of a student's own case, given those that the case has for everybody
Own = Callable[[Chance, Mapping[str, Any]], Mapping[str, Any]]


@dataclass(frozen=True)
class Varied:
    """A hidden case that is as written for everybody, until students have inputs of their own: then
    `own` draws each student's parameters.
    """

    case: Case | Drawn
    own: Own


def near(*kept: str) -> Own:
    """Numbers like those that a case has, but for the parameters that are `kept`."""

    def own(chance: Chance, params: Mapping[str, Any]) -> Mapping[str, Any]:
        return {name: v if name in kept else chance.like(v) for name, v in params.items()}

    return own


def same(chance: Chance, params: Mapping[str, Any]) -> Mapping[str, Any]:
    """The parameters that a case has for everybody; random numbers are a student's own anyway."""
    return params


#: in `VISIBLE`: a case whose own seed is what it is for, so that everybody has it as it is
UNCHANGED = None


def like(seed: int, **params: Any) -> Drawn:
    """A case on one rank, with numbers like these."""
    return Drawn(1, seed, lambda chance: {n: chance.around(v) for n, v in params.items()})
