"""`swap_shards`: from a share of the positions to a share of the heads, and back."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from distlab.course.lab11_long_sequences_and_experts import carried
from distlab.course.lab11_long_sequences_and_experts.returning import (
    NEARLY,
    call_shortened,
    misplaced,
    one,
    shape_of,
)
from distlab.exercises import hints
from distlab.exercises.compare import KEEPS_FLOAT64
from distlab.exercises.exercise import Case, Exercise, Hint, Look


def _make(case: Case) -> list[dict]:
    """n positions on each rank, `heads` heads in all. int64 elements are all different, and
    too large for a float64.
    """
    n, heads, d = (case.params[name] for name in ("n", "heads", "d"))
    dtype, size = case.get("dtype", "float32"), case.size
    full = case.generator().standard_normal((size * n, heads, d))
    if np.dtype(dtype).kind == "i":
        full = (np.arange(full.size).reshape(full.shape) + case.seed) * (2**54 + 1)
    full = full.astype(dtype)
    to = case.params["to"]
    parts = np.split(full, size, axis=0 if to == "heads" else 1)
    return [{"x": np.ascontiguousarray(part), "to": to} for part in parts]


def _axis(look: Look) -> int:
    """Along which dimension what arrives is put together."""
    return 0 if look.case.params["to"] == "heads" else 1


def _arrived(look: Look, rank: int) -> list[np.ndarray]:
    """What each rank sends to this one, (n, heads/size, d)."""
    return [np.split(x, look.size, axis=1 - _axis(look))[rank] for x in look.given("x")]


def _as(of: Callable[[Look, int], np.ndarray]) -> Callable[[Look], bool]:
    """Did every rank return what `of` gives for it, and is that wrong?"""

    def shows(look: Look) -> bool:
        return look.size > 1 and all(
            one(got) is not None
            and np.array_equal(of(look, rank), got)
            and not np.array_equal(want, got)
            for rank, (want, got) in enumerate(look.pairs())
        )

    return shows


def _put_together_along_the_other(look: Look, rank: int) -> np.ndarray:
    return np.concatenate(_arrived(look, rank), axis=1 - _axis(look))


def _reversed(look: Look, rank: int) -> np.ndarray:
    return np.concatenate(_arrived(look, rank)[::-1], axis=_axis(look))


def _anothers(look: Look) -> bool:
    """Has some rank what belongs to another one?"""
    return look.size > 1 and any(
        one(got) is not None
        and not np.array_equal(want, got)
        and any(np.array_equal(other, got) for other in look.wanted)
        for want, got in look.pairs()
    )


def _memory_cut(look: Look) -> bool:
    """Did each rank get a slice of the others' memory as it lies, or its own part shuffled?"""
    if any(misplaced(w, g) for w, g in look.pairs()):
        return True
    cut = [np.split(x.reshape(-1), look.size) for x in look.given("x")]
    arrived = [np.concatenate(pieces) for pieces in zip(*cut, strict=True)]
    return look.size > 1 and all(
        one(got) is not None and np.array_equal(np.sort(got, axis=None), np.sort(flat))
        for got, flat in zip(look.returned, arrived, strict=True)
    )


def _always_to_heads(look: Look) -> bool:
    """Were positions put together and heads divided where the other way is asked for?"""
    positions, heads, d = look.inputs[0]["x"].shape
    wrong = (positions * look.size, heads // look.size, d)
    return (
        look.size > 1
        and look.case.params["to"] == "sequence"
        and any(one(got) is not None and got.shape == wrong for got in look.returned)
    )


exercise = Exercise(
    points=3,
    make=_make,
    call=call_shortened,
    asks="swap_shards gives each rank all positions of its heads (to='heads'), or its positions of "
    "all heads (to='sequence'), by one all-to-all.",
    tolerance=KEEPS_FLOAT64,
    visible=(
        Case(2, 1, {"to": "heads", "n": 2, "heads": 4, "d": 3}),
        Case(3, 2, {"to": "sequence", "n": 2, "heads": 9, "d": 2}),
    ),
    traffic=(carried.exactly(all_to_all=1),),
    hints=(
        hints.NOTHING,
        carried.messages(
            "Each rank has something for each other: that is one collective, the all-to-all, "
            "and not messages one by one."
        ),
        carried.ONE_ROOT,
        carried.gathered(
            "All of it was sent to everybody, and most of it thrown away. In an all-to-all each "
            "rank gets from each other just the piece that it needs."
        ),
        Hint(
            "more than one all-to-all",
            lambda look: any(len(carried.all_to_alls(look, r)) > 1 for r in look.ranks),
            "One all-to-all is enough: put the pieces for all ranks one behind the other in one "
            "tensor.",
        ),
        hints.EARLY,
        Hint(
            "list for tensor",
            lambda look: any(isinstance(got, (list, tuple)) for got in look.returned),
            "The pieces came back as a list: put them together to one tensor.",
        ),
        Hint(
            "nothing swapped",
            lambda look: look.size > 1 and not look.events("all_to_all"),
            "No rank called an all-to-all: whatever a rank makes of its own part alone, the rest "
            "lies on the others.",
        ),
        Hint(
            "always to heads",
            _always_to_heads,
            "With to='sequence' the way is the other one: heads come together, positions are "
            "divided.",
        ),
        Hint(
            "put together along the wrong dimension",
            _as(_put_together_along_the_other),
            "The right pieces arrived and were put together along the wrong dimension: what comes "
            "from different ranks are different positions on the way to heads, and different heads "
            "on the way back.",
        ),
        Hint(
            "ranks in another order",
            _as(_reversed),
            "The pieces are in another order: the one from rank 0 comes first.",
        ),
        Hint(
            "another rank's share",
            _anothers,
            "A rank has the share of another one: rank r gets the r-th run of heads, or of "
            "positions, counted from 0.",
        ),
        hints.DTYPE,
        shape_of(
            "With to='heads' the result is (size·n, heads/size, d), with to='sequence' (n, heads, "
            "d)."
        ),
        NEARLY,
        Hint(
            "memory cut, not dimensions",
            _memory_cut,
            "The elements are there, in another order. An all-to-all knows memory, not dimensions: "
            "it cuts its input along the first one, and fills its output in the order of memory, "
            "also one that is not contiguous (empty_like of a transposed tensor is not). Bring the "
            "dimension that is to be divided to the front, by transposing and .contiguous() (view "
            "and reshape alone keep the order); receive into a contiguous tensor; then bring what "
            "arrived back to its place.",
        ),
        Hint(
            "pieces cut along the wrong dimension",
            lambda look: look.size > 1,
            "Something else arrived than should. Say for one rank which positions and which heads "
            "it has before and after. Is that what the first dimension of your input is cut into? "
            "(The output has to be contiguous as well: it is filled in the order of memory.)",
        ),
    ),
)
