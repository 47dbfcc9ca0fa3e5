"""What the report says of pairs that are alike: sentences, and the passages side by side."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.judging.ledger import Entry
from grader.likeness.fingerprints import Prints
from grader.likeness.pairs import Alike, Likeness, Pair, likeness
from grader.likeness.runs import Habit
from grader.likeness.submissions import Work, read, starter

SHOWN = 30  # pairs with their passages; of the others only the names
REASONS = 6  # exercises that are told of a pair
PASSAGES = 3  # exercises of a pair whose answers are shown
LINES, COLUMNS, BEFORE = 60, 120, 2  # of an answer that is shown


@dataclass(frozen=True)
class Side:
    """An answer as it is shown: its lines, and which of them stand in the other answer too."""

    student: str
    lines: tuple[tuple[int, str, bool], ...]  # (number, text, shared)
    more: int  # lines that are not shown


@dataclass(frozen=True)
class Passage:
    exercise: str
    sides: tuple[Side, Side]


@dataclass(frozen=True)
class Told:
    """A pair as it is shown."""

    one: str
    other: str
    weight: float
    exercises: int
    reasons: tuple[tuple[str, str], ...]  # (exercise, sentence)
    passages: tuple[Passage, ...]


def find(assignment: str, submitted: Path, entries: Iterable[Entry]) -> Likeness | None:
    """The pairs of a class that are alike; `None` if that failed, which costs nobody a grade."""
    try:
        return likeness(read(assignment, submitted, entries), starter(assignment))
    except Exception:
        logging.getLogger(__name__).exception("no likeness of %s", assignment)
        return None


def told(found: Likeness) -> list[Told]:
    """The first pairs, as they are shown."""
    return [_told(pair, found) for pair in found.pairs[:SHOWN]]


def _told(pair: Pair, found: Likeness) -> Told:
    reasons = [(one.exercise, said) for one in pair.alike[:REASONS] for said in sentences(one)]
    passages = [
        Passage(one.exercise, (_side(pair.one, one, found), _side(pair.other, one, found)))
        for one in pair.alike
        if one.text is not None and one.text.prints
    ]
    return Told(
        pair.one.student, pair.other.student, pair.weight, len(pair.alike), tuple(reasons),
        tuple(passages[:PASSAGES]),
    )  # fmt: skip


def sentences(alike: Alike) -> Iterator[str]:
    """Why two are alike in an exercise."""
    if alike.text is not None and alike.text.prints:
        yield (
            f"{100 * alike.text.share:.0f} % of what is unusual in one of the answers stands in "
            f"the other too; a typical piece of it stands in {alike.text.holders} of "
            f"{alike.answered} answers."
        )
    yield from map(_of_habit, alike.habits)


def _of_habit(habit: Habit) -> str:
    many = f"as in {len(habit.who)} of {habit.of} runs"
    if habit.kind == "mistake":
        return f"Both fail in the same way, {many} ({habit.said})"
    return f"The ranks made the same calls in the same order, {many} ({habit.said})"


def _side(work: Work, alike: Alike, found: Likeness) -> Side:
    assert alike.text is not None
    prints = found.prints[work.student].get(alike.exercise, {})
    shared = _lines(prints, alike.text.prints)
    text = work.sources[alike.exercise].replace("\r\n", "\n").replace("\r", "\n").split("\n")
    begin = max(0, min(shared, default=1) - 1 - BEFORE)
    shown = [
        (number, line if len(line) <= COLUMNS else f"{line[: COLUMNS - 1]}…", number in shared)
        for number, line in enumerate(text[begin : begin + LINES], begin + 1)
    ]
    return Side(work.student, tuple(shown), len(text) - len(shown))


def _lines(prints: Prints, common: Iterable[int]) -> set[int]:
    """The lines of a cell that hold one of the `common` fingerprints."""
    return {
        line
        for fingerprint in common
        for first, last in prints.get(fingerprint, ())
        for line in range(first, last + 1)
    }
