"""Lab 02: its exercises in the order of the notebook, and its question."""

from __future__ import annotations

import hashlib

from distlab.course.toy_checkpoint import demo_checkpoint
from distlab.course.toy_group import setup
from distlab.course.toy_starting import run_demo, world_from_env
from distlab.course.toy_training import average_gradients, demo_basic, train
from distlab.course.toy_weights import LAB
from distlab.exercises import Case, Exercise, Hint

# what_is_wrong


_STATEMENTS = "ABCDEF"


def _letters(answer) -> set[str] | None:
    """A set of letters out of a variable or of what a function returns."""
    answer = answer() if callable(answer) else answer
    if not isinstance(answer, (set, frozenset, list, tuple)):
        return None
    if not all(isinstance(letter, str) for letter in answer):
        return None
    return {letter.strip().upper() for letter in answer}


def _call_what_is_wrong(answer, rank, size, inputs):
    """A fingerprint is compared, so that the files beside the lab do not show the answer."""
    letters = _letters(answer)
    if letters is None:
        return "no set of letters"
    if unknown := sorted(letters - set(_STATEMENTS)):
        return f"{', '.join(unknown)}, which is none of {_STATEMENTS[0]} to {_STATEMENTS[-1]}"
    mark = hashlib.sha256(f"{LAB} {sorted(letters)}".encode()).hexdigest()[:6]
    return f"{len(letters)} letters with the fingerprint {mark}"


def _count(text: str) -> int:
    return int(text.split()[0])


what_is_wrong = Exercise(
    "what_is_wrong",
    LAB,
    2,
    make=lambda case: [{}],
    call=_call_what_is_wrong,
    group=False,
    asks="what_is_wrong is the set of the letters of all statements that are true.",
    visible=(Case(1, 1),),
    hints=(
        Hint(
            "no set",
            lambda look: not look.got[0][0].isdigit(),
            'Write a set of capital letters from A to F, like {"A", "F"}.',
        ),
        Hint(
            "too few",
            lambda look: _count(look.got[0]) < _count(look.expected[0]),
            "There are more true statements. Count the processes, then ask what number each of "
            "them believes to have, and where it got that from.",
        ),
        Hint(
            "too many",
            lambda look: _count(look.got[0]) > _count(look.expected[0]),
            "At least one of these is not true. For each: which experiment in this notebook "
            "would show it?",
        ),
        Hint(
            "others",
            lambda look: _count(look.got[0]) == _count(look.expected[0]),
            "The number is right, the choice is not: at least one of these is not true.",
        ),
    ),
)


EXERCISES = [
    setup, average_gradients, demo_basic, train, demo_checkpoint, run_demo, world_from_env,
    what_is_wrong,
]  # fmt: skip
