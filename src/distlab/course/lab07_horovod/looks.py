"""What the harnesses of lab 07 begin with, and what its hints ask of a finished run."""

from __future__ import annotations

from distlab.exercises.exercise import Hint, Look
from distlab.exercises.hints import holds_a_number


def initialised(rank: int, size: int):
    """Horovod, initialised on this rank by the course."""
    import horovod.torch as hvd

    from distlab.course.lab07_horovod import ranks
    from distlab.rank import recording

    ranks.prepare(rank, size, on_each_of_two_machines(size))
    with recording.paused():
        hvd.init()
    return hvd


def on_each_of_two_machines(size: int) -> int:
    """How many ranks there are on a machine, the first of two: on a single one every local rank and
    local size would be right where rank and size are asked for.
    """
    return (size + 1) // 2


def nothing_left_open(look: Look) -> str | None:
    """A rule: what was begun by a function of Horovod's was waited for."""
    for event in look.events():
        if not (event.waited or event.done):
            return f"rank {event.rank} began {event} at {event.place}, and never waited for it."
    return None


def numbers(look: Look) -> list[float]:
    """What was returned, where every rank returned a plain number."""
    got = [look.got[r]["returned"] for r in look.ranks]
    if not all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in got):
        raise ValueError("no numbers")
    return got


AS_TENSOR = Hint(
    "tensor for number",
    lambda look: any(holds_a_number(look.got[r]["returned"]) for r in look.ranks),
    "A tensor, or a number of NumPy's, came back where a plain number is asked for: item() makes "
    "one of either.",
)
NOTHING = Hint(
    "nothing returned",
    lambda look: all(look.got[r]["returned"] is None for r in look.ranks),
    "The function returned None. Is there a `return` at its end?",
)
