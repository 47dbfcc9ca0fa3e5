"""`ring_reduce_scatter`: the first half of a ring all-reduce."""

from __future__ import annotations

import numpy as np

from distlab.course.lab04_ring_allreduce import rings
from distlab.course.lab04_ring_allreduce.chunks import drawn, in_place
from distlab.exercises import hints, traffic
from distlab.exercises.compare import KEEPS_FLOAT64
from distlab.exercises.exercise import Case, Exercise, Hint, Look


def _chunks_of_each_rank(case: Case) -> list[dict]:
    shape = [case.size, *case.get("shape", [2])]
    return [{"chunks": list(drawn(case, rank, shape))} for rank in range(case.size)]


_OWN = "chunk (rank + 1) mod size"


def _call_reduce_scatter(function, rank, size, inputs):
    chunks, fate = in_place(function, rank, size, inputs["chunks"])
    return {_OWN: chunks[(rank + 1) % size], "list of chunks": fate}


def _owned(look: Look) -> list[tuple[list[np.ndarray], np.ndarray]]:
    """For the chunk that each rank should own: (what every rank put into it, what it holds now)."""
    chunks = list(zip(*look.given("chunks"), strict=True))
    return [(chunks[(r + 1) % look.size], own) for r, own in enumerate(look.left(_OWN))]


def _shares(look: Look) -> list[tuple[int, ...] | None]:
    return [rings.shares(*owned) for owned in _owned(look)]


def _alone(look: Look) -> list[int | None]:
    """For each rank the one whose part alone is in its own chunk; None if those of others are."""
    return [
        shares.index(1) if shares is not None and sum(shares) == 1 else None
        for shares in _shares(look)
    ]


def _added_to_another(look: Look, rank: int) -> bool:
    """Is what it sent in its second step the sum of what arrived in the first and a chunk of its
    own that has another number?
    """
    steps, number = rings.handed_on(look, rank), rings.first_chunk(look, (rank - 1) % look.size)
    if not steps or number is None:
        return False
    came, went = steps[0]
    fits = np.isclose(came + np.array(rings.first_elements(look, rank)), went, rtol=1e-5)
    return bool(fits.any() and not fits[number])


exercise = Exercise(
    points=4,
    make=_chunks_of_each_rank,
    call=_call_reduce_scatter,
    asks="After ring_reduce_scatter rank r holds, in chunk (r + 1) mod size, the sum of that chunk "
    "over all ranks, and each rank has sent size − 1 messages of one chunk to (r + 1) mod size.",
    tolerance=KEEPS_FLOAT64,
    visible=(Case(4, 1, {"shape": [3]}), Case(2, 2), Case(4, 3, {"shape": [3]})),
    traffic=(traffic.no_collective_but_barrier, rings.one_chunk_each),
    hints=(
        *rings.HALF,
        Hint(
            "another chunk first",
            lambda look: (
                look.size > 1
                and all(rings.first_chunk(look, rank) not in (rank, None) for rank in look.ranks)
            ),
            "Chunks travel the right way, and end on the wrong ranks. Follow one of them back: "
            "chunk c is to end on rank c − 1, and before that it was on rank c − 2, and so on. On "
            "which rank did it start? That rank sends it in the first step.",
        ),
        Hint(
            "nothing added",
            lambda look: bool(look.events("recv")) and _alone(look) == list(look.ranks),
            "Each rank's chunk is as it was on entry. What arrived was added to another chunk, or "
            "to a copy: in each step a rank sends one chunk and adds what arrives to another, in "
            "place. Which chunk does the left neighbour send in this step?",
        ),
        Hint(
            "copied, not added",
            lambda look: bool(look.events("recv")) and None not in _alone(look),
            "Each chunk holds one rank's part alone: what arrived was written over what was there. "
            "Receive into a buffer of its own, then add that to the chunk.",
        ),
        Hint(
            "parts missing",
            lambda look: (
                bool(look.events("recv"))
                and any(
                    shares is not None and 0 in shares and max(shares) == 1
                    for shares in _shares(look)
                )
            ),
            "A chunk holds the sum of some ranks alone. What a rank hands on in one step must be "
            "the chunk that it added to in the step before.",
        ),
        Hint(
            "mean for sum",
            lambda look: (
                look.size > 1
                and all(look.same(sum(parts) / look.size, got) for parts, got in _owned(look))
            ),
            hints.MEAN_FOR_SUM.says,
        ),
        Hint(
            "parts twice",
            lambda look: any(shares is not None and max(shares) > 1 for shares in _shares(look)),
            "A rank's part is in the sum twice: each rank adds its own to a passing chunk once.",
        ),
        Hint(
            "sent as it was",
            lambda look: any(
                went in rings.first_elements(look, rank)
                for rank in look.ranks
                for _, went in rings.handed_on(look, rank)
            ),
            "In a later step than the first a rank sent a chunk as it was on entry. What it hands "
            "on must be the chunk to which it has just added what arrived.",
        ),
        Hint(
            "added to another chunk",
            lambda look: any(_added_to_another(look, rank) for rank in look.ranks),
            "What arrived was added to a chunk of another number, so that parts of two chunks are "
            "in one sum. Which chunk does the left neighbour send in this step?",
        ),
    ),
)
