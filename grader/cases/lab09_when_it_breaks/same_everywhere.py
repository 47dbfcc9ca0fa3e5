"""Hidden cases of `same_everywhere`."""

from typing import Any

from distlab.course.lab09_when_it_breaks.same_everywhere import (
    ALIKE,
    DIFFERENT,
    EQUAL,
    IN_A_MODEL,
)
from distlab.exercises.exercise import Case
from grader.cases import Chance, Drawn


def _situations(size: int, seed: int, *names: str, **params: Any) -> Drawn:
    """These situations and two others, in some order."""

    def drawn(chance: Chance) -> dict:
        others = chance.order(EQUAL if size == 1 else EQUAL + DIFFERENT)[:2]
        return {"situations": chance.order([*names, *others]), **params}

    return Drawn(size, seed, drawn)


HIDDEN = (
    _situations(1, 101, "equal", "nothing anywhere"),
    _situations(4, 102, "equal", "equal, empty ones among them", "two and two"),
    _situations(3, 103, "more and less", "last bit of a large int", "swapped tensors", odd=1),
    _situations(5, 104, "another NaN", "dtype", "dtype of one width", odd=0),
    _situations(2, 105, "empty shape", "scalar or not", "cut elsewhere"),
    _situations(3, 106, "nothing on one rank", "one more, empty", odd=0),
    _situations(
        2,
        107,
        "equal, one requires a gradient",
        "equal, in other strides",
        "last bit of a double",
        odd=0,
    ),
    # alone: there, what other situations leave of their 256 bytes is not added
    Case(4, 108, {"situations": [IN_A_MODEL], "odd": 2}),
    _situations(2, 109, "nothing anywhere", "more and less", "one more", ALIKE),
    _situations(4, 110, "equal, with NaN", "minus zero", "shape", odd=1),
)
