"""`run_non_blocking`: one message, by requests that are waited for."""

from __future__ import annotations

from distlab.course.lab01_message_passing.one_message import HINTS, one_message
from distlab.exercises import hints, traffic
from distlab.exercises.exercise import Hint

exercise = one_message(
    points=2,
    asks="In run_non_blocking, rank 0 adds 1 to its zero and sends it with dist.isend, rank 1 "
    "receives it with dist.irecv, each waits for its request, and both return the tensor.",
    waiting=(traffic.non_blocking, traffic.all_waited),
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
