"""Pairs of submissions that are alike beyond what the class explains, the most alike first.

An exercise counts once for a pair, by its text or by its runs, whichever weighs more: equal text
behaves equally. Exercises add up, because each is written separately. A pair is listed if its sum
is far above what pairs of this class usually have.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from grader.likeness.fingerprints import Prints, fingerprints
from grader.likeness.index import Index, Shared, without
from grader.likeness.runs import Habit, habits
from grader.likeness.submissions import Work, sorted_by_name

LEAST = 12.0  # bits of a pair that is listed, in any class
FAR = 3.5  # times the distance between the median pair of the class and its upper tenth
MOST_LISTED = 200
MOST_PAIRS = 3_000_000  # that are held; further ones are left out


@dataclass(frozen=True)
class Alike:
    """What makes a pair alike in one exercise."""

    exercise: str
    weight: float
    text: Shared | None
    answered: int  # submissions that answered it
    habits: tuple[Habit, ...] = ()


@dataclass(frozen=True)
class Pair:
    one: Work
    other: Work
    weight: float
    alike: tuple[Alike, ...]  # the heaviest first


@dataclass
class Likeness:
    """What was found in a class."""

    pairs: list[Pair]
    compared: int  # submissions with something to compare
    least: float  # weight from which on a pair is listed
    more: int = 0  # pairs beyond MOST_LISTED
    left_out: list[tuple[str, str]] = field(default_factory=list)  # (student, sentence)
    incomplete: list[str] = field(default_factory=list)  # exercises with too many pairs
    prints: Mapping[str, Mapping[str, Prints]] = field(default_factory=dict)  # of listed students


def likeness(works: Iterable[Work], starter: Mapping[str, str]) -> Likeness:
    """The pairs of a class that are alike.

    Args:
        starter: the sources of the released notebook's cells.
    """
    return _Class(sorted_by_name(works), starter).listed()


class _Class:
    def __init__(self, works: Sequence[Work], starter: Mapping[str, str]) -> None:
        self._works = works
        given = {f for prints in fingerprints(starter).values() for f in prints}
        self._prints = [fingerprints(work.sources) for work in works]
        names = dict.fromkeys(name for work in works for name in (*work.sources, *work.lines))
        self._index = {
            name: Index({
                number: own for number, prints in enumerate(self._prints)
                if (own := without(prints.get(name, {}), given))
            })
            for name in names
        }  # fmt: skip
        self._habits = {
            name: list(habits({
                number: work.lines[name]
                for number, work in enumerate(works) if name in work.lines
            }))
            for name in names
        }  # fmt: skip

    def listed(self) -> Likeness:
        sums = self._sums()
        compared = sum(1 for work in self._works if work.sources)
        least = usual(list(sums.values()), compared)
        found = sorted(
            (pair for pair, weight in sums.items() if weight >= least),
            key=lambda pair: (-sums[pair], pair),
        )
        pairs = [self._pair(pair, sums[pair]) for pair in found[:MOST_LISTED]]
        named = {number for pair in found[:MOST_LISTED] for number in pair}
        return Likeness(
            pairs, compared, least, len(found) - len(pairs),
            [(work.student, said) for work in self._works for said in work.left_out],
            [name for name, index in self._index.items() if not index.complete],
            {self._works[number].student: self._prints[number] for number in named},
        )  # fmt: skip

    def _sums(self) -> dict[tuple[int, int], float]:
        """The weight of each pair that shares anything."""
        sums: dict[tuple[int, int], float] = {}
        for name in self._index:
            for pair, weight in self._of(name).items():
                if pair in sums or len(sums) < MOST_PAIRS:
                    sums[pair] = sums.get(pair, 0.0) + weight
        return sums

    def _of(self, name: str) -> dict[tuple[int, int], float]:
        """The weight of each pair in one exercise."""
        weights = self._index[name].pairs()
        for habit in self._habits[name]:
            for pair in combinations(habit.who, 2):
                weights[pair] = max(weights.get(pair, 0.0), habit.weight)
        return weights

    def _pair(self, pair: tuple[int, int], weight: float) -> Pair:
        alike = [self._alike(name, pair) for name in self._index]
        heavy = sorted((one for one in alike if one.weight), key=lambda one: -one.weight)
        one, other = (self._works[number] for number in pair)
        return Pair(one, other, weight, tuple(heavy))

    def _alike(self, name: str, pair: tuple[int, int]) -> Alike:
        index = self._index[name]
        common = tuple(habit for habit in self._habits[name] if set(pair) <= set(habit.who))
        text = None
        if all(number in index.found for number in pair):
            text = index.shared(pair)
        weight = max([text.weight if text else 0.0, *(habit.weight for habit in common)])
        return Alike(name, weight, text, len(index.found), common)


def usual(weights: Sequence[float], compared: int) -> float:
    """The weight from which a pair is out of the ordinary in this class."""
    count = compared * (compared - 1) // 2
    ranked = sorted(weights)

    def at(share: float) -> float:  # pairs without a weight share nothing
        place = int(share * (count - 1)) - (count - len(ranked))
        return ranked[min(place, len(ranked) - 1)] if place >= 0 else 0.0

    if not ranked or count < 1:
        return LEAST
    return max(LEAST, at(0.5) + FAR * (at(0.9) - at(0.5)))
