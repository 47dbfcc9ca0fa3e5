"""What the exercises of lab 08 share."""

from __future__ import annotations

from collections.abc import Callable

from distlab.exercises.exercise import Exercise, Hint, Look

NEEDS = ("tensorflow",)
#: TensorFlow's servers and collectives start 100 threads in each process on two cores and 300 on
#: 64; an exercise has up to four processes, one of them twice
PROCESSES = 2048
#: seconds for exercises that trace graphs and start servers: with everything imported a case takes
#: about one second of a processor, and several submissions are graded side by side
DEADLINE = 30.0


def with_tensorflow(points: int, **about) -> Exercise:
    """An exercise of this lab. Its processes are its own: the ranks have no process group."""
    return Exercise(
        points, group=False, needs=NEEDS, processes=PROCESSES, forks=True, **about
    )  # fmt: skip


def left(name: str) -> Callable[[Look], list]:
    """What each rank's harness has noted under a name; `None` where it got no further."""

    def found(look: Look) -> list:
        return [got.get(name) if isinstance(got, dict) else None for got in look.got]

    return found


def is_not(name: str) -> Callable[[Look], bool]:
    """A hint's `shows`: is what the harness has noted another value than the reference's?"""

    def shows(look: Look) -> bool:
        return any(
            name in got and not look.same(expected[name], got[name])
            for expected, got in zip(look.expected, look.got, strict=True)
        )

    return shows


NOTHING = Hint(
    "nothing returned",
    lambda look: all(got["returned"] is None for got in look.got),
    "The function returned None. Is there a `return` at its end?",
)
