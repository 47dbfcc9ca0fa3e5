"""`ring_all_gather`: the second half of a ring all-reduce."""

from __future__ import annotations

import numpy as np

from distlab.course.lab04_ring_allreduce import rings
from distlab.course.lab04_ring_allreduce.chunks import drawn, in_place
from distlab.exercises import hints, traffic
from distlab.exercises.compare import KEEPS_FLOAT64
from distlab.exercises.exercise import Case, Exercise, Hint, Look


def _one_chunk_of_each_rank(case: Case) -> list[dict]:
    """After a reduce-scatter: rank r has chunk r + 1, and the others hold anything."""
    shape, inputs = case.get("shape", [2]), []
    for rank in range(case.size):
        others = drawn(case, rank, [case.size, *shape])
        chunks = list(others + others.dtype.type(case.get("others", 100)))
        chunks[(rank + 1) % case.size] = drawn(case, 100 + rank, shape)
        inputs.append({"chunks": chunks})
    return inputs


def _call_all_gather(function, rank, size, inputs):
    chunks, fate = in_place(function, rank, size, inputs["chunks"])
    return {"chunks": chunks, "list of chunks": fate}


def _misplaced(look: Look) -> bool:
    """Did all chunks arrive, in another order?"""

    def in_one_order(chunks):
        return sorted(np.ravel(chunk).tolist() for chunk in chunks)

    return look.size > 1 and any(
        in_one_order(got) == in_one_order(want) and not look.same(want, got)
        for want, got in look.pairs("chunks")
    )


def _added(look: Look) -> bool:
    """Does a chunk hold what arrived plus what was there before?"""
    return any(
        look.same(right + before, now) and not look.same(right, now)
        for entry, (asked, left) in zip(look.given("chunks"), look.pairs("chunks"), strict=True)
        for before, right, now in zip(entry, asked, left, strict=True)
    )


def _untouched(look: Look) -> bool:
    """Did messages arrive, and are all chunks as they were on entry?"""
    return bool(look.events("recv")) and all(
        map(look.same, look.given("chunks"), look.left("chunks"))
    )


exercise = Exercise(
    points=3,
    make=_one_chunk_of_each_rank,
    call=_call_all_gather,
    asks="ring_all_gather begins with chunk (r + 1) mod size on rank r and leaves every chunk on "
    "every rank; each rank has sent size − 1 messages of one chunk to (r + 1) mod size.",
    tolerance=KEEPS_FLOAT64,
    visible=(Case(4, 1, {"shape": [3]}), Case(2, 2), Case(4, 3, {"shape": [3]})),
    traffic=(traffic.no_collective_but_barrier, rings.one_chunk_each),
    hints=(
        Hint(
            "NaN from before",
            lambda look: hints.poisoned(look.inputs) and hints.poisoned(look.got),
            "The chunks that are not finished may hold anything on entry, NaN too, which stays NaN "
            "when it is multiplied by 0 or subtracted from itself. Write over such a chunk: with "
            "copy_, or by receiving straight into it.",
        ),
        *rings.HALF,
        Hint(
            "nothing written",
            _untouched,
            "All chunks are as they were on entry: what arrived went into another tensor and "
            "stayed there. `chunk = received` gives a name to another tensor and changes no chunk.",
        ),
        Hint(
            "added, not copied",
            _added,
            "What arrived was added to what lay in the chunk. These chunks are finished sums: "
            "receive straight into the chunk, nothing is added any more.",
        ),
        Hint(
            "another chunk first",
            lambda look: (
                look.size > 1
                and all(
                    rings.first_chunk(look, rank) not in ((rank + 1) % look.size, None)
                    for rank in look.ranks
                )
            ),
            "In the first step a rank sent a chunk that it did not have yet. On entry rank r holds "
            "one finished chunk, and its number is not r.",
        ),
        Hint(
            "chunks in other places",
            _misplaced,
            "Every chunk arrived, but not in its own place: whoever receives chunk c must receive "
            "into chunks[c]. Which chunk does the left neighbour send in this step?",
        ),
        Hint(
            "not handed on",
            lambda look: any(
                came != went for rank in look.ranks for came, went in rings.handed_on(look, rank)
            ),
            "A rank sent something else than what had arrived in the step before. What arrives in "
            "one step is sent on in the next: has it the same number here and there?",
        ),
    ),
)
