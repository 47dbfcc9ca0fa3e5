"""`ring_reduce_scatter`: the first half of a ring all-reduce."""

from __future__ import annotations

from distlab.course.lab04_ring_allreduce import rings
from distlab.course.lab04_ring_allreduce.chunks import in_place
from distlab.exercises import traffic
from distlab.exercises.compare import KEEPS_FLOAT64
from distlab.exercises.exercise import Case, Exercise, Hint, Look


def _chunks_of_each_rank(case: Case) -> list[dict]:
    shape, dtype = case.get("shape", [2]), case.get("dtype", "float32")
    return [
        {"chunks": list(case.draw(rank, [case.size, *shape], dtype))} for rank in range(case.size)
    ]


def _call_reduce_scatter(function, rank, size, inputs):
    chunks, fate = in_place(function, rank, size, inputs["chunks"])
    return {"chunk (rank + 1) mod size": chunks[(rank + 1) % size], "list of chunks": fate}


def _owned(look: Look, rank: int):
    """(what every rank put into the chunk that `rank` should own, what that holds now)."""
    number = (rank + 1) % look.size
    parts = [inputs["chunks"][number] for inputs in look.inputs]
    return parts, look.got[rank]["chunk (rank + 1) mod size"]


def _alone(look: Look, rank: int) -> int | None:
    """The one rank whose part alone is in the chunk that `rank` should own; None if others are."""
    shares = rings.shares(*_owned(look, rank))
    return shares.index(1) if shares is not None and sum(shares) == 1 else None


def _shares(look: Look) -> list[tuple[int, ...] | None]:
    return [rings.shares(*_owned(look, rank)) for rank in look.ranks]


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
            lambda look: (
                bool(look.events("recv")) and all(_alone(look, rank) == rank for rank in look.ranks)
            ),
            "Each rank's chunk is as it was on entry. What arrived was added to another chunk, or "
            "to a copy: in each step a rank sends one chunk and adds what arrives to another, in "
            "place. Which chunk does the left neighbour send in this step?",
        ),
        Hint(
            "copied, not added",
            lambda look: (
                bool(look.events("recv"))
                and all(_alone(look, rank) is not None for rank in look.ranks)
            ),
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
            "parts twice",
            lambda look: any(shares is not None and max(shares) > 1 for shares in _shares(look)),
            "A rank's part is in the sum twice: each rank adds its own to a passing chunk once.",
        ),
    ),
)
