"""`pipeline_step`: GPipe's many small batches, all forward and then all back."""

from __future__ import annotations

from typing import NamedTuple

from distlab.course.lab06_model_parallel import pipeline
from distlab.exercises import hints, traffic
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.records.events import FUTURE, Event


class _Moment(NamedTuple):
    """When a message left a rank or arrived there, and which of its threads saw to that."""

    at: float
    thread: int
    known: bool = True  # does the thread know it from then on? Not where a future tells somebody


def _left(send: Event) -> _Moment:
    return _Moment(send.begin, send.thread)


def _arrived(receive: Event) -> _Moment:
    """When a receive is over: it may be begun as early as one likes."""
    over = receive.wait_end or receive.end
    return _Moment(over, receive.thread, bool(receive.wait_end or not receive.flags & FUTURE))


def _moments(look: Look, rank: int) -> tuple[list[_Moment], ...]:
    """Of forward messages that arrived and left on a rank, and of backward ones likewise."""
    sends, receives = look.records[rank].sends(), look.records[rank].receives()
    return (
        [_arrived(event) for event in receives if event.peer == rank - 1],
        [_left(event) for event in sends if event.peer == rank + 1],
        [_arrived(event) for event in receives if event.peer == rank + 1],
        [_left(event) for event in sends if event.peer == rank - 1],
    )


def _forward_first(look: Look) -> str | None:
    """GPipe: on each rank all forward messages before any backward one.

    Whichever thread takes care of a message: a gradient cannot be there before all micro-batches
    have gone forward, unless somebody began to go back earlier.
    """
    for rank in look.ranks:
        arrived, left, back_arrived, back_left = _moments(look, rank)
        forward, backward = arrived + left, back_arrived + back_left
        if forward and backward and min(backward).at < max(forward).at:
            return (
                f"on rank {rank} a gradient went back before all micro-batches had gone forward: "
                "GPipe takes all of them forward first."
            )
    return None


def _overlapping(look: Look) -> str | None:
    """A rank hands a micro-batch on before the last one has come.

    Of one thread that is the order of its calls. Between two threads it would be how the machine
    happened to give them time.
    """
    for rank in look.ranks[1:-1]:
        arrived, left, *_ = _moments(look, rank)
        if len(arrived) > 1 and left and _one_after_the_other(arrived, left[0]):
            return (
                f"rank {rank} passed its first micro-batch on only when all {len(arrived)} had "
                "arrived: the ranks work one after the other, as without micro-batches."
            )
    for rank in look.ranks:
        arrived, left, back_arrived, back_left = _moments(look, rank)
        barriers = [e for e in look.records[rank].events if e.op == "barrier"]
        for some in (arrived + left, back_arrived + back_left):
            if any(_between(barrier, some) for barrier in barriers):
                return (
                    f"rank {rank} called a barrier between its micro-batches: all ranks then wait "
                    "for the slowest, and nothing overlaps."
                )
    return None


def _one_after_the_other(arrived: list[_Moment], left: _Moment) -> bool:
    return all(one.known and one.thread == left.thread and one.at < left.at for one in arrived)


def _between(barrier: Event, messages: list[_Moment]) -> bool:
    moments = [one.at for one in messages if one.thread == barrier.thread]
    return bool(moments) and min(moments) < barrier.begin < max(moments)


def _in_flight(look: Look) -> int:
    """How many micro-batches rank 0 had sent when the first gradient came back; 0 where nobody went
    back too early.
    """
    if (
        pipeline.microbatches(look) == 1
        or not pipeline.as_many_as_asked(look)
        or _forward_first(look) is None
    ):
        return 0
    _, left, back_arrived, _ = _moments(look, 0)
    return sum(moment.at < min(back_arrived).at for moment in left)


exercise = Exercise(
    points=5,
    make=pipeline.model_inputs,
    share=pipeline.own_part,
    call=pipeline.call_step,
    asks="In pipeline_step, the batch goes through the stages in `microbatches` equal parts, all "
    "of them forward and then all of them back; every gradient is the undivided model's, and the "
    "last rank returns the mean loss as a float.",
    visible=(
        Case(2, 1, {"widths": [3, 5, 2], "rows": [4], "microbatches": 2}),
        Case(4, 2, {"widths": [2, 6, 3, 4, 1], "rows": [12], "microbatches": 4}),
    ),
    traffic=(
        traffic.no_collective_but_barrier,
        traffic.messages(pipeline.both_ways),
        _forward_first,
        _overlapping,
    ),
    hints=(
        hints.EARLY,
        Hint(
            "one micro-batch at a time",
            lambda look: _in_flight(look) == 1,
            "Each micro-batch goes forward and back before the next one begins, so only one rank "
            "works at any time. Two loops are needed: one in which all go forward, and after it "
            "one in which all come back.",
        ),
        Hint(
            "1F1B",
            lambda look: _in_flight(look) > 1,
            "This looks like 1F1B, one forward, one backward in turn: a good schedule, which needs "
            "less memory, but another one. GPipe is asked for here: no backward pass begins "
            "before the last micro-batch has gone forward.",
        ),
        Hint(
            "no overlap",
            lambda look: _overlapping(look) is not None,
            "Values and messages are right, but nobody works while the rank before does: send the "
            "output of a micro-batch as soon as you have it, before you receive the next one.",
        ),
        *pipeline.OF_A_STEP,
    ),
    advice=pipeline.RAISED_IN_A_STEP,
)
