"""`relay`: a running sum that goes from rank to rank."""

from __future__ import annotations

import numpy as np

from distlab.exercises import hints, traffic
from distlab.exercises.compare import KEEPS_FLOAT64
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.hints import brought, everywhere, own_tensor, total
from distlab.exercises.inputs import tensor_per_rank


def _running_sums(look: Look) -> list[np.ndarray]:
    own = brought(look)
    return [np.sum(own[: rank + 1], axis=0, dtype=own[0].dtype) for rank in look.ranks]


def _sums_of_two(look: Look) -> list[np.ndarray]:
    own = brought(look)
    return [own[0], *map(np.add, own, own[1:])]


exercise = Exercise(
    points=3,
    make=tensor_per_rank,
    asks="In relay, rank r returns the sum of the tensors of ranks 0 to r, and the only messages "
    "are one from each rank to the next.",
    tolerance=KEEPS_FLOAT64,
    visible=(Case(4, 1), Case(1, 2), Case(4, 3)),
    traffic=(
        traffic.no_collective_but_barrier,
        traffic.messages(lambda case: [(r, r + 1) for r in range(case.size - 1)]),
        traffic.all_waited,
    ),
    hints=(
        hints.EARLY,
        own_tensor("Each rank returned its own tensor: it has to add what arrives to it."),
        Hint(
            "sum of two",
            lambda look: everywhere(look, _sums_of_two(look)),
            "Each rank has its own tensor and its neighbour's alone. What rank 1 hands on to rank "
            "2 must already hold what came from rank 0: receive and add before you send.",
        ),
        Hint(
            "own not added",
            lambda look: everywhere(look, [*brought(look)[:1], *_running_sums(look)[:-1]]),
            "Each rank returned what it received, without its own tensor.",
        ),
        Hint(
            "received over own",
            lambda look: everywhere(look, [brought(look)[0] * 2**rank for rank in look.ranks]),
            "Each rank has twice what it received, and its own tensor is gone: did the message "
            "arrive in it? Receive into a buffer, and add the buffer to your tensor.",
        ),
        Hint(
            "first tensor handed on",
            lambda look: everywhere(look, brought(look)[0]),
            "Every rank has rank 0's tensor: on its way along the chain nobody added anything.",
        ),
        Hint(
            "total everywhere",
            lambda look: everywhere(look, total(look)),
            "Every rank has the sum of all ranks: rank r should have only that of ranks 0 to r.",
        ),
        Hint(
            "chain too short",
            lambda look: look.size > 2 and 0 < len(look.events("send")) < look.size - 1,
            "The chain ended before the last rank: every rank but the last one sends. Is the "
            "number of a rank written into your code where `rank` or `size` should stand?",
        ),
        Hint(
            "chain closed",
            lambda look: (
                {event.peer > event.rank for event in look.events("send")} == {False, True}
            ),
            "The chain has two ends: the last rank sends to nobody, and rank 0 receives nothing.",
        ),
        Hint(
            "from the other end",
            lambda look: {event.peer - event.rank for event in look.events("send")} == {-1},
            "Messages went down the chain: rank r sends to r + 1 and receives from r − 1.",
        ),
    ),
)
