"""Hidden cases: a folder for each lab and a module for each exercise, whose `HIDDEN` are the cases
beyond the visible ones. What several exercises share stands beside them.

The random numbers of a case, and the parameters of a `Drawn` one, come from the course's secret
(`grader.secret`). The seeds written here only number the cases.

Where students have inputs of their own (`grader.variants`), random numbers and what is `Drawn`
differ for each student. Which other parameters differ is said by `Varied` for a hidden case, and by
the module's `VISIBLE` for the visible ones. World sizes, shapes and the number of cases are the
same for all, and so are time, difficulty and what is looked at in an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from distlab.exercises.exercise import Case


class Chance:
    """Draws random parameters of a case."""

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
        """A value with `around` applied to each number in it, except zeros; all else stays."""
        if isinstance(value, list):
            return [self.like(item) for item in value]
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return self.around(value) if number and value else value

    def order(self, items: Sequence[Any]) -> list[Any]:
        """The items in a random order."""
        return [items[i] for i in self._generator.permutation(len(items))]

    def rising(self, count: int, least: int, most: int) -> list[int]:
        """`count` different whole numbers from `least` to `most`, in rising order."""
        drawn = self._generator.choice(most + 1 - least, count, replace=False)
        return sorted(int(number) + least for number in drawn)


@dataclass(frozen=True)
class Drawn:
    """A hidden case whose parameters are drawn with the course's secret.

    For exercises whose inputs are their parameters: if these stood in the repository, a table of
    answers would pass.
    """

    size: int
    seed: int
    params: Callable[[Chance], Mapping[str, Any]]

    def made(self, entropy: Callable[[str], bytes]) -> Case:
        """The case for a secret, which `entropy` turns into 128 bits for each case's name."""
        own = entropy(Case(self.size, self.seed).key)
        chance = Chance(Case(self.size, self.seed, entropy=own).generator(stream=-1))
        return Case(self.size, self.seed, self.params(chance), True, own)


#: draws the parameters of a student's own case from those that the case has for everybody
Own = Callable[[Chance, Mapping[str, Any]], Mapping[str, Any]]


@dataclass(frozen=True)
class Varied:
    """A hidden case that is the same for everybody, unless students have inputs of their own: then
    `own` draws each student's parameters.
    """

    case: Case | Drawn
    own: Own


def near(*kept: str) -> Own:
    """Numbers like those of the case, except for the parameters that are `kept`."""

    def own(chance: Chance, params: Mapping[str, Any]) -> Mapping[str, Any]:
        return {name: v if name in kept else chance.like(v) for name, v in params.items()}

    return own


def same(chance: Chance, params: Mapping[str, Any]) -> Mapping[str, Any]:
    """The parameters that everybody has; random numbers are a student's own anyway."""
    return params


#: in `VISIBLE`: a case that tests its very seed, so that everybody has it as it is
UNCHANGED = None


def like(seed: int, **params: Any) -> Drawn:
    """A case on one rank, with numbers like these."""
    return Drawn(1, seed, lambda chance: {n: chance.around(v) for n, v in params.items()})
