"""What the harnesses of lab 07 begin with, and what its hints ask of a finished run."""

from __future__ import annotations

from typing import Any

from distlab.exercises.exercise import Hint, Look
from distlab.exercises.hints import holds_a_number


def initialised(rank: int, size: int, framework: str = "torch") -> Any:
    """A framework's Horovod, initialised on this rank by the course, as if on two machines: on a
    single one every local rank and local size would be right where rank and size are asked for.
    """
    from distlab.course.lab07_horovod import ranks

    return ranks.initialise(rank, size, (size + 1) // 2, framework)


def told(look: Look) -> list[Any]:
    """What was returned on all ranks, by all calls where the harness makes several."""
    if not look.exercise.calls:
        return look.returned
    return [one for calls in look.returned for one in calls]


AS_TENSOR = Hint(
    "tensor for number",
    lambda look: any(map(holds_a_number, told(look))),
    "A tensor, or a number of NumPy's, came back where a plain number is asked for: item() makes "
    "one of either.",
)
NOTHING = Hint(
    "nothing returned",
    lambda look: all(one is None for one in told(look)),
    "The function returned None. Is there a `return` at its end?",
)
