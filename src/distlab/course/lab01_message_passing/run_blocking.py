"""`run_blocking`: one message, by calls that wait."""

from __future__ import annotations

from distlab.course.lab01_message_passing.one_message import (
    HINTS,
    carries_one,
    only_0_to_1,
    stamp_on_rank_0,
    with_stamp,
)
from distlab.exercises import hints, traffic
from distlab.exercises.exercise import Case, Exercise, Hint

exercise = Exercise(
    points=2,
    make=stamp_on_rank_0,
    call=with_stamp,
    stamped=True,
    asks="In run_blocking, rank 0 adds 1 to its zero and sends it with dist.send, rank 1 receives "
    "it with dist.recv, and both return the tensor.",
    visible=(Case(2, 1), Case(2, 2)),
    traffic=(
        traffic.no_collective_but_barrier,
        traffic.messages(only_0_to_1),
        traffic.blocking,
        carries_one,
    ),
    hints=(
        *HINTS,
        hints.EARLY,
        Hint(
            "non-blocking calls",
            lambda look: any(not event.blocking for event in look.events("send", "recv")),
            "Use dist.send and dist.recv here, which wait by themselves. isend and irecv are the "
            "subject of the next exercise.",
        ),
    ),
)
