"""Hidden cases of `roll_call`."""

from typing import Any

from distlab.exercises.exercise import Case
from grader.cases import Chance, Drawn
from grader.cases.lab09_when_it_breaks.stores import HASH, SLOW, TCP

PREFIXED_HASH, PREFIXED_TCP = f"PrefixStore over {HASH}", f"PrefixStore over {TCP}"


def _roll_calls(
    size: int, seed: int, store: str, seconds: float, *calls: list, of: int = 0, **params: Any
) -> Drawn:
    """Roll calls at about these moments, each of which some rank has; ranks from `size` up to `of`
    never call.
    """
    absent = [None] * (of - size)
    return Drawn(size, seed, lambda chance: {
        "store": store, "seconds": seconds,
        "calls": [chance.order(_about(chance, moments)) + absent for moments in calls], **params,
    })  # fmt: skip


def _about(chance: Chance, moments: list) -> list:
    """These moments, the later ones by up to 20 ms later."""
    return [at + chance.whole(0, 20) / 1000 if at else at for at in moments]


HIDDEN = (
    # the second comes so late that whoever counts from the last arrival stays too long
    _roll_calls(4, 101, TCP, 0.8, [None, 0.0, None, 0.6]),
    _roll_calls(4, 102, PREFIXED_TCP, 0.5, [0.0, None, None, 1.0]),
    Case(1, 103, {"store": TCP, "seconds": 0.3, "calls": [[0.0]]}),
    # four at once, of whom each sees the others' notes late, and one when pauses that grow are long
    _roll_calls(5, 104, SLOW, 2.0, [0.0, 0.0, 0.0, 0.0, 1.3], slowness=0.02),
    # ranks 10 and 11 behind the second name read like ranks 0 and 1 behind the first
    _roll_calls(3, 105, HASH, 0.4, [0.0, 0.1, 0.2], [None, 0.0, 0.1], [0.1, None, None], of=12,
                names=["step 11", "step 1", "step 111"]),
    # 0 when rounded, and so is the time at which what fails is tried again
    _roll_calls(2, 106, PREFIXED_HASH, 0.19, [0.9, 0.0]),
)  # fmt: skip
