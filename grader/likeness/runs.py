"""What the ledger says of two submissions' runs: the same unusual mistake, the same unusual pattern
of calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from grader.judging.ledger import Line
from grader.likeness.index import is_unusual, rarity
from grader.likeness.pattern import HASH
from grader.reports.mistakes import key

#: a right answer has one of few patterns, which says less about its author than a mistake does
OF_A_PATTERN = 0.5


@dataclass(frozen=True)
class Habit:
    """A mistake or a pattern and the submissions that have it."""

    kind: str  # mistake, pattern
    said: str
    who: tuple[int, ...]
    of: int  # submissions that could have had it
    weight: float  # bits


def habits(lines: Mapping[int, Line]) -> Iterator[Habit]:
    """What several of those who answered an exercise have in common, but not many.

    Args:
        lines: of one exercise, by submission.
    """
    ran = {one: line for one, line in lines.items() if line.status not in _SILENT}
    mistakes: dict[tuple[str, str], list[int]] = {}
    patterns: dict[str, list[int]] = {}
    for one, line in sorted(ran.items()):
        if line.status != "passed":
            mistakes.setdefault(key(line), []).append(one)
        if line.pattern:
            patterns.setdefault(line.pattern[:HASH], []).append(one)
    for who in mistakes.values():
        line = ran[who[0]]
        said = line.hint or line.happened or line.message
        yield from _habit("mistake", f"{line.status}: {said}", who, len(ran), 1.0)
    traced = sum(map(len, patterns.values()))
    for who in patterns.values():
        said = ran[who[0]].pattern[HASH + 1 :]
        yield from _habit("pattern", said, who, traced, OF_A_PATTERN)


_SILENT = ("unanswered", "unreadable", "not graded", "timeout", "crashed")


def _habit(kind: str, said: str, who: list[int], of: int, factor: float) -> Iterator[Habit]:
    if is_unusual(len(who), of):
        yield Habit(kind, said, tuple(who), of, factor * rarity(len(who), of))
