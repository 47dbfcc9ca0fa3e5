"""`run_non_blocking`: one message, by requests that are waited for."""

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
    asks="In run_non_blocking, rank 0 adds 1 to its zero and sends it with dist.isend, rank 1 "
    "receives it with dist.irecv, each waits for its request, and both return the tensor.",
    visible=(Case(2, 1), Case(2, 2)),
    traffic=(
        traffic.no_collective_but_barrier,
        traffic.messages(only_0_to_1),
        traffic.non_blocking,
        traffic.all_waited,
        carries_one,
    ),
    hints=(
        hints.EARLY,
        *HINTS,
        Hint(
            "blocking calls",
            lambda look: any(event.blocking for event in look.events("send", "recv")),
            "dist.send and dist.recv wait before they return. The calls that only begin a message "
            "have an i in front.",
        ),
    ),
)
