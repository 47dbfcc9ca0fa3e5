"""Which submissions share rare fingerprints in an exercise: an inverted index, no text is compared
with another.

The weight of a fingerprint is its rarity among those who answered the exercise, in bits. What the
starter notebook contains weighs nothing, and what many share is not followed up.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from grader.likeness.fingerprints import Prints

MOST_SHARED = 60  # submissions that a fingerprint is followed up to …
MOST_OF_CLASS = 1 / 6  # … and the share of those who answered; 2 always
#: supposed submissions of other classes, which share nothing: rarity says little in a small class,
#: and without them it would say nothing
UNSEEN = 20
MOST_STEPS = 4_000_000  # pairs that are counted in an exercise; the rarest fingerprints come first
USUAL = 16  # fingerprints of a passage of some four lines
LONGEST = 3.0  # times the weight of such a passage: more no passage weighs


@dataclass(frozen=True)
class Shared:
    """What two submissions share of the text of an exercise."""

    weight: float  # bits
    share: float  # of what is unusual in the one that has less of it
    prints: frozenset[int]
    holders: int  # how many submissions have the median one of these


@dataclass
class Index:
    """The fingerprints of one exercise, and who has them."""

    found: Mapping[int, Collection[int]]  # submission → its fingerprints, without the starter's
    complete: bool = True  # were all pairs counted?

    def __post_init__(self) -> None:
        self.holders: dict[int, list[int]] = {}
        for one in sorted(self.found):
            for fingerprint in self.found[one]:
                self.holders.setdefault(fingerprint, []).append(one)
        self._whole = {
            one: sum(map(self.weight, prints)) for one, prints in self.found.items()
        }  # fmt: skip

    def weight(self, fingerprint: int) -> float:
        """The rarity of a fingerprint, in bits."""
        return rarity(len(self.holders[fingerprint]), len(self.found))

    def _is_followed(self, fingerprint: int) -> bool:
        return is_unusual(len(self.holders[fingerprint]), len(self.found))

    def pairs(self) -> dict[tuple[int, int], float]:
        """The weight of what each pair shares, where it shares something unusual."""
        sums: dict[tuple[int, int], list[float]] = {}
        followed = filter(self._is_followed, self.holders)
        steps = 0
        for fingerprint in sorted(followed, key=lambda f: (len(self.holders[f]), f)):
            who = self.holders[fingerprint]
            steps += len(who) * (len(who) - 1) // 2
            if steps > MOST_STEPS:
                self.complete = False
                break
            weight = self.weight(fingerprint)
            for pair in itertools.combinations(who, 2):
                known = sums.setdefault(pair, [0.0, 0.0])
                known[0] += weight
                known[1] += 1.0
        return {
            pair: self._evidence(pair, total, count) for pair, (total, count) in sums.items()
        }  # fmt: skip

    def _evidence(self, pair: tuple[int, int], total: float, count: float) -> float:
        """Neighbouring fingerprints are not independent: what counts is their average rarity, their
        share of the answers, and, less and less, their number.
        """
        length = min(LONGEST, math.sqrt(count / USUAL))
        return total / count * self._share(pair, total) * length

    def _share(self, pair: tuple[int, int], total: float) -> float:
        least = min(self._whole[one] for one in pair)
        return min(1.0, total / least) if least else 0.0

    def shared(self, pair: tuple[int, int]) -> Shared:
        """What a pair shares, for display; its weight is the one in `pairs`."""
        one, other = (set(self.found[each]) for each in pair)
        common = sorted(f for f in one & other if self._is_followed(f))
        total = sum(map(self.weight, common))
        ranked = sorted(len(self.holders[f]) for f in common)
        return Shared(
            self._evidence(pair, total, len(common)) if common else 0.0,
            self._share(pair, total), frozenset(common), ranked[len(ranked) // 2] if ranked else 0,
        )  # fmt: skip


def rarity(holders: int, of: int) -> float:
    """How rare it is that so many of a class have something, in bits."""
    return math.log2((of + UNSEEN) / holders)


def is_unusual(holders: int, of: int) -> bool:
    """Do at least two have it, but not many?"""
    return 2 <= holders <= max(2, min(MOST_SHARED, int(of * MOST_OF_CLASS) + 1))


def without(prints: Prints, starter: Collection[int]) -> set[int]:
    """The fingerprints that the starter notebook does not have."""
    return {fingerprint for fingerprint in prints if fingerprint not in starter}
