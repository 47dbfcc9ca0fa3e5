"""Partial credit for an exercise, from how many of its cases were right."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from grader.policy.exact import CENT

if TYPE_CHECKING:
    from grader.judging.ledger import Entry, Line

#: statuses of answers that may be right in other cases; tampering gets nothing
_COUNTS = {"wrong", "error", "deadlock", "timeout", "crashed"}


@dataclass(frozen=True)
class Partial:
    """Shares of an exercise's points for an answer that is not right; the larger one counts.

    Args:
        cases: multiplied by the share of the cases that were right before the first that was not.
        deadlock: for an answer that deadlocks and was right with fewer ranks.
    """

    cases: Fraction = Fraction()
    deadlock: Fraction = Fraction()

    def points(self, line: Line) -> Fraction:
        """The points of a line of the ledger, in hundredths."""
        full = Fraction(line.max_score)
        if line.status == "passed":
            return Fraction(line.score)
        if line.status not in _COUNTS or not line.total:
            return Fraction()
        share = self.cases * Fraction(line.passed, line.total)
        if line.status == "deadlock" and line.smaller:
            share = max(share, self.deadlock)
        return Fraction(round(share * full / CENT)) * CENT

    def scored(self, line: Line) -> Line:
        """The line with the points that this policy gives for it."""
        points = float(self.points(line))
        return line if points == line.score else dataclasses.replace(line, score=points)

    def entry(self, entry: Entry) -> Entry:
        """The entry with the points that this policy gives for it."""
        lines = [self.scored(line) for line in entry.lines]
        return entry if lines == entry.lines else dataclasses.replace(entry, lines=lines)


def told(line: Line) -> str:
    """One sentence on partial credit; empty where there is none."""
    if line.status == "passed" or not line.score:
        return ""
    return (
        f"{line.passed} of {line.total} cases were right before this one: "
        f"{line.score:g} of {line.max_score:g} points."
    )
