"""`run_blocking`: one message, by calls that wait."""

from __future__ import annotations

from distlab.course.lab01_message_passing.one_message import HINTS, one_message
from distlab.exercises import hints, traffic
from distlab.exercises.exercise import Hint

exercise = one_message(
    points=2,
    asks="In run_blocking, rank 0 adds 1 to its zero and sends it with dist.send, rank 1 receives "
    "it with dist.recv, and both return the tensor.",
    waiting=(traffic.blocking,),
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
