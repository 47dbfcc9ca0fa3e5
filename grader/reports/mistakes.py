"""Which wrong answers are the same mistake: by the hint that applied, or else by the message."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from grader.judging.ledger import Line

_CASE = re.compile(r"^(?:on|in a hidden case on) \d+ ranks?(?: \([^)]*\))?[,:]?\s*", re.I)
#: of a formula
_CALL = re.compile(r"^(?:in a hidden case, \w+|\w+\(.*?\)) (?=returned|raised)", re.I)
_QUOTED = re.compile(r"`[^`]*`|'[^']*'|\"[^\"]*\"")
_NUMBER = re.compile(r"[-+]?\d[\d.]*(?:e[-+]?\d+\.?)?|\bnan\b", re.I)
_LIST = re.compile(r"#(?:(?:,| and)+\s*#)+")


@dataclass
class Mistake:
    """A wrong answer and who gave it. `name` is the hint's, where there is one."""

    status: str
    name: str
    happened: str  # to the first of them
    look: str
    students: list[str] = field(default_factory=list)


def mistakes(answers: Iterable[tuple[str, Line]]) -> list[Mistake]:
    """The wrong answers of one exercise, the commonest first.

    Args:
        answers: (student, verdict) in any order; right and missing answers are passed over.
    """
    found: dict[tuple[str, str], Mistake] = {}
    for student, line in answers:
        if line.status in ("passed", "unanswered"):
            continue
        mistake = found.setdefault(
            key(line),
            Mistake(line.status, line.hint, line.happened or line.message, line.look),
        )
        mistake.students.append(student)
    return sorted(found.values(), key=lambda one: -len(one.students))


def same(one: Line, other: Line) -> bool:
    """Are two wrong answers to an exercise the same mistake?"""
    return key(one) == key(other)


def key(line: Line) -> tuple[str, str]:
    """What all wrong answers to an exercise with the same mistake have in common."""
    return line.status, line.hint or masked(line.happened or line.message)


def masked(said: str) -> str:
    """A message without what differs from case to case: the case, numbers, what is quoted."""
    said = _QUOTED.sub("…", _CASE.sub("", _CALL.sub("rank 0 ", said)))
    said = _LIST.sub("#", _NUMBER.sub("#", said))
    return " ".join(re.sub(r"\branks\b", "rank", said).split())
