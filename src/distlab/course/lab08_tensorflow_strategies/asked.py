"""What all exercises of lab 08 share: limits, plain results, and hints."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from distlab.exercises.exercise import Exercise, Hint
from distlab.processes import payload

NEEDS = ("tensorflow",)
#: TensorFlow's servers and collectives start 100 threads in each process on two cores and 300 on
#: 64; an exercise has up to four processes, one of them twice
PROCESSES = 2048
#: seconds for exercises that trace graphs and start servers: with everything imported a case takes
#: about one second of a processor, and several submissions are graded side by side
DEADLINE = 60.0


def with_tensorflow(points: int, **about) -> Exercise:
    """An exercise of this lab. Its processes are its own: the ranks have no process group."""
    return Exercise(points, group=False, needs=NEEDS, processes=PROCESSES, forks=True, **about)


def plain(value: Any) -> Any:
    """What a function returned, as data that can leave its process. Of strategies, promises,
    generators and the like, which cannot be pickled, the type alone is left, inside lists too.
    """
    if isinstance(value, np.ndarray):
        value = list(value)
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if getattr(value, "shape", None) == () and not isinstance(value, str):
        with contextlib.suppress(TypeError, ValueError):  # a tensor of text
            return float(value)
    return payload.decode(payload.encode(value, arrays=False))


AS_LIST = Hint(
    "tensor for list",
    lambda look: any("Tensor" in getattr(got, "type_name", "") for got in look.returned),
    "A tensor came back, and a list of numbers is asked for.",
)
NOTHING = Hint(
    "nothing returned",
    lambda look: all(got is None for got in look.returned),
    "The function returned None. Is there a `return` at its end?",
)
