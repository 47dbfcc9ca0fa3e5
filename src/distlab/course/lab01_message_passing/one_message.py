"""One message from rank 0 to rank 1: what the blocking and the non-blocking exercise share."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

import numpy as np

from distlab.exercises import traffic
from distlab.exercises.exercise import BROUGHT, Case, Exercise, Hint, Look
from distlab.processes.stopped import Stopwatch
from distlab.rank.sharing import POLL
from distlab.records import reading
from distlab.records.events import Event

_LONGEST = 20.0  # seconds in which a rank calls barriers that its function has left out


def _stamp_on_rank_0(case: Case) -> list[dict]:
    """A number that travels with rank 0's message: rank 1 can only learn it from that message. In
    an `altered` case the message reaches rank 1 with another content, that number more.
    """
    generator = case.generator()
    number = int(generator.integers(1, 1 << 20))
    inputs = [{"stamp": number if rank == 0 else None} for rank in range(case.size)]
    if case.get("altered"):
        inputs[1]["more"] = int(generator.integers(2, 100))  # one more fits every type
    return inputs


def _with_stamp(function, rank, size, inputs):
    """Call it while messages carry a stamp; hand back the one that arrived, if any."""
    import torch

    from distlab.rank import recording

    more = inputs.get("more", 0)
    with recording.stamped(inputs["stamp"], more) as arrived:
        try:
            result = function(rank, size)
        except (Exception, SystemExit):
            if not (more and arrived):
                raise
            result = torch.full((1,), 1.0 + more)  # it looked at what came, and says it is no 1
            _join_barriers(of=0)
    return {"returned": result, BROUGHT: arrived[0] if arrived else None}


def _join_barriers(of: int) -> None:
    """Call the barriers of this rank that its function has left out, until the function has ended
    on the other rank, which would wait in them.
    """
    import torch.distributed as dist

    watch = Stopwatch()
    while watch.seconds() < _LONGEST:
        other, own = (_barriers(rank) for rank in (of, dist.get_rank()))
        if other is not None and own is not None:
            barriers, ended = other
            if len(barriers) > len(own[0]):
                monitored = barriers[len(own[0])].note == "monitored"
                (dist.monitored_barrier if monitored else dist.barrier)()
            elif ended:
                return
        time.sleep(POLL)


def _barriers(rank: int) -> tuple[list[Event], bool] | None:
    """Those that a rank has begun, and whether its function has ended; `None` if that cannot be
    read now.
    """
    with contextlib.suppress(OSError, ValueError):
        record = reading.read(Path(os.environ["DISTLAB_RUN"], f"{rank}.rec"))
        return [event for event in record.events if event.op == "barrier"], record.ended
    return None


def _carries_one(look: Look) -> str | None:
    """The message holds 1.0. (On a GPU its content is not recorded, and the values have to do.)"""
    for event in look.events("send"):
        if event.value == event.value and event.value != 1.0:
            return (
                f"rank {event.rank} sent {event.value:g} at {event.place}, and the message should "
                "carry 1."
            )
    return None


HINTS = (
    Hint(
        "message not returned",
        lambda look: (
            look.case.get("altered")
            and look.same(np.ones(1, "float32"), look.returned[1])
            and not look.same(look.wanted[1], look.returned[1])
        ),
        "Rank 1 returns a 1 whatever the message holds: it made that 1 itself. Return the tensor "
        "that the receive has filled.",
    ),
    Hint(
        "result of the call",
        lambda look: (
            any(event.blocking for event in look.events("recv"))
            and look.returned[1] == 0
            and type(look.returned[1]) is int
        ),
        "recv returns the number of the rank that the message came from, and send returns None. "
        "The message itself is in the tensor that you passed.",
    ),
    Hint(
        "sent before adding",
        lambda look: [event.value for event in look.events("send")] == [0.0],
        "A message holds what the tensor holds when the send is called: rank 0 has to add 1 before "
        "it.",
    ),
    Hint(
        "both added",
        lambda look: look.same(np.array([2.0], "float32"), look.returned[1]),
        "Rank 1 has one more than it was sent: only rank 0 adds 1, rank 1 takes what arrives.",
    ),
    Hint(
        "both ranks do the same",
        lambda look: any(event.rank == 1 for event in look.events("send")),
        "All ranks run the same function. What differs comes from `rank`: let rank 0 alone send "
        "and rank 1 alone receive.",
    ),
    Hint(
        "received elsewhere",
        lambda look: (
            any(event.value == 1.0 for event in look.events("recv"))
            and look.same(np.zeros(1, "float32"), look.returned[1])
        ),
        "The 1 did arrive on rank 1, but in another tensor than the one returned. A receive writes "
        "into the tensor that it is given.",
    ),
    Hint(
        "sent elsewhere",
        lambda look: (
            [event.value for event in look.events("send")] == [1.0]
            and look.same(np.zeros(1, "float32"), look.returned[0])
        ),
        "Rank 0 sent a 1 and returns a 0: `tensor + 1` makes another tensor and leaves the first "
        "as it was. Both ranks return the tensor with the 1 in it.",
    ),
)


def one_message(points: int, asks: str, waiting: tuple, hints: tuple) -> Exercise:
    """An exercise in which rank 0 sends a one to rank 1.

    Args:
        waiting: the rules on how it is waited for.
    """
    return Exercise(
        points=points,
        make=_stamp_on_rank_0,
        call=_with_stamp,
        stamped=True,
        asks=asks,
        visible=(Case(2, 1), Case(2, 2)),
        traffic=(
            traffic.no_collective_but_barrier,
            traffic.messages(lambda case: [(0, 1)]),
            *waiting,
            _carries_one,
        ),
        hints=hints,
    )
