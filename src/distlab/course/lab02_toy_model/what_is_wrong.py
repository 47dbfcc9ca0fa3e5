"""`what_is_wrong`: a question on what was read and run."""

from __future__ import annotations

from collections.abc import Set

from distlab.exercises.exercise import Case, Exercise, Hint, Look

_STATEMENTS = "ABCDEF"
A_SET = "a set of letters"


def _letters(answer) -> set[str] | None:
    """A set of letters out of a variable or of what a function returns."""
    answer = answer() if callable(answer) else answer
    if not isinstance(answer, (Set, list, tuple)):
        return None
    if not all(isinstance(letter, str) for letter in answer):
        return None
    return {letter.strip().upper() for letter in answer}


def _call_what_is_wrong(answer, rank, size, inputs):
    """The visible case asks for nothing but a set of letters: whatever told more of them would lie
    beside the lab, where one could try all sets out.
    """
    letters = _letters(answer)
    if letters is None:
        return "no set of letters"
    if unknown := sorted(letters - set(_STATEMENTS)):
        return f"{', '.join(unknown)}, which is none of {_STATEMENTS[0]} to {_STATEMENTS[-1]}"
    return "".join(sorted(letters)) if inputs["judged"] else A_SET


def _is_set(look: Look) -> bool:
    return look.got[0] == A_SET or set(look.got[0]) <= set(_STATEMENTS)


def _too_many(look: Look) -> int:
    """By how many letters the answer is longer than the right one."""
    return len(look.got[0]) - len(look.expected[0])


exercise = Exercise(
    points=2,
    make=lambda case: [{"judged": case.get("judged", False)}],
    call=_call_what_is_wrong,
    group=False,
    asks="what_is_wrong is the set of the letters of all statements that are true.",
    left_open="It is a set of letters. Whether it is the right one is told once it is graded.",
    visible=(Case(1, 1),),
    hints=(
        Hint(
            "no set",
            lambda look: not _is_set(look),
            'Write a set of capital letters from A to F, like {"A", "F"}.',
        ),
        Hint(
            "too few",
            lambda look: _too_many(look) < 0,
            "There are more true statements. Count the processes, then ask what number each of "
            "them believes to have, and where it got that from.",
        ),
        Hint(
            "too many",
            lambda look: _too_many(look) > 0,
            "At least one of these is not true. For each: which experiment in this notebook "
            "would show it?",
        ),
        Hint(
            "others",
            lambda look: _too_many(look) == 0,
            "The number is right, the choice is not: at least one of these is not true.",
        ),
    ),
)
