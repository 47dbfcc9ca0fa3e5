"""`sequence_parallel_mlp`: rows gathered before a tensor-parallel MLP, sums scattered after it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from distlab.course.lab11_long_sequences_and_experts import carried
from distlab.course.lab11_long_sequences_and_experts.returning import (
    NEARLY,
    call_shortened,
    misplaced,
    shape_of,
)
from distlab.exercises import hints
from distlab.exercises.compare import KEEPS_FLOAT64
from distlab.exercises.exercise import Case, Exercise, Hint, Look

_erf = np.vectorize(math.erf, otypes=["float64"])


def _make(case: Case) -> list[dict]:
    """`hidden`: the units of the hidden layer of all ranks, a multiple of their number. `scale`: of
    what goes into gelu.
    """
    n, d, hidden = (case.params[name] for name in ("n", "d", "hidden"))
    dtype, drawn = case.get("dtype", "float32"), case.generator()
    w1 = drawn.standard_normal((hidden, d)) / d**0.5 * 2 * case.get("scale", 1)
    w2 = drawn.standard_normal((d, hidden)) / hidden**0.5
    inputs = []
    for rank in range(case.size):
        mine = slice(rank * hidden // case.size, (rank + 1) * hidden // case.size)
        inputs.append(
            {
                "x": case.draw(rank, (n, d), dtype),
                "w1": w1[mine].astype(dtype),
                "w2": np.ascontiguousarray(w2[:, mine]).astype(dtype),
            }
        )
    return inputs


def _gelu(x: np.ndarray) -> np.ndarray:
    return x * (1 + _erf(x / 2**0.5)) / 2


def _tanh_gelu(x: np.ndarray) -> np.ndarray:
    return x * (1 + np.tanh((2 / np.pi) ** 0.5 * (x + 0.044715 * x**3))) / 2


def _terms(look: Look, act: Callable = _gelu) -> np.ndarray:
    """Each rank's terms of the sums for the rows of each rank: (ranks, ranks, n, d)."""
    x = np.array(look.given("x"), "float64")
    return np.stack([act(x @ given["w1"].T) @ given["w2"].T for given in look.inputs])


def _sums(look: Look, act: Callable = _gelu) -> np.ndarray:
    return _terms(look, act).sum(axis=0)


def _as(*made: Callable[[Look], Sequence[np.ndarray]]) -> Callable[[Look], bool]:
    """Did every rank return its one of what one of these makes, and is that not what was asked?"""

    def shows(look: Look) -> bool:
        if look.inputs[0]["x"].size * len(look.inputs[0]["w1"]) > 100_000:
            return False
        dtype = look.wanted[0].dtype
        return any(hints.everywhere(look, [rows.astype(dtype) for rows in of(look)]) for of in made)

    return shows


def _other(*acts: Callable) -> Callable[[Look], bool]:
    return _as(*(lambda look, act=act: _sums(look, act) for act in acts))


def _own_rows(look: Look) -> list[np.ndarray]:
    return [terms[rank] for rank, terms in enumerate(_terms(look))]


def _own_rows_added_up(look: Look) -> list[np.ndarray]:
    """Each rank computed its own rows, and these, which are different rows, were added up."""
    return [np.sum(_own_rows(look), axis=0)] * look.size


def _weights_gathered(look: Look) -> bool:
    """Did the weights travel? Told from what was gathered: a weight may be as large as the rows."""
    rows, weight = look.inputs[0]["x"].size, look.inputs[0]["w1"].size
    gathered = [e.elements for e in look.records[0].events if e.op == "all_gather"]
    of_rows = {rows, look.size * rows}
    if any(count in (weight, 2 * weight) and count not in of_rows for count in gathered):
        return True
    both = gathered.count(weight) > 1 or (gathered == [2 * weight] and 2 * weight != rows)
    return both and not look.events("reduce_scatter")


exercise = Exercise(
    points=3,
    make=_make,
    call=call_shortened,
    asks="sequence_parallel_mlp returns this rank's rows of gelu(X·W1ᵀ)·W2ᵀ, by one all-gather and "
    "one reduce-scatter.",
    tolerance=KEEPS_FLOAT64,
    visible=(
        Case(2, 1, {"n": 2, "d": 3, "hidden": 4}),
        Case(3, 2, {"n": 1, "d": 4, "hidden": 6}),
    ),
    traffic=(carried.exactly(all_gather=1, reduce_scatter=1),),
    hints=(
        hints.NOTHING,
        carried.messages("One all-gather and one reduce-scatter are asked for, and no messages."),
        Hint(
            "all-reduce",
            lambda look: bool(look.events("all_reduce")),
            "An all-reduce gives every rank the sums of all rows, and each needs its own rows "
            "alone: that is a reduce-scatter, the first half of the ring of lab 04.",
        ),
        Hint(
            "weights gathered",
            _weights_gathered,
            "The weights were gathered. They stay where they are: it is the rows of x that every "
            "rank needs.",
        ),
        hints.EARLY,
        Hint(
            "rows never gathered",
            lambda look: (
                look.size > 1
                and not look.events("all_gather")
                and _as(_own_rows, _own_rows_added_up)(look)
            ),
            "Each rank worked on its own rows alone. Its slice of the hidden layer is needed for "
            "the rows of all ranks.",
        ),
        Hint(
            "partial sums",
            lambda look: look.size > 1 and not look.events("reduce_scatter"),
            "Each rank's product is one term of a sum over all ranks. A reduce-scatter adds the "
            "terms up, and leaves each rank its own rows.",
        ),
        Hint(
            "calls counted",
            lambda look: (
                look.size > 1
                and any(
                    carried.called(record) != {"all_gather": 1, "reduce_scatter": 1}
                    for record in look.records
                )
            ),
            "One all-gather before the first product, one reduce-scatter after the second, and "
            "nothing else.",
        ),
        hints.DTYPE,
        shape_of("The result holds this rank's rows, (n, d)."),
        Hint(
            "gelu by tanh",
            _other(_tanh_gelu),
            "This is gelu's approximation by tanh: the exact one is asked for, which is torch's "
            "default.",
        ),
        Hint(
            "another activation",
            _other(
                np.tanh, lambda x: np.maximum(x, 0), lambda x: x, lambda x: x / (1 + np.exp(-x))
            ),
            "Between the two products stands gelu.",
        ),
        Hint(
            "gelu outside",
            _as(lambda look: _gelu(_sums(look, lambda x: x))),
            "The gelu came after the sum: it belongs between the two products, where each rank "
            "has hidden units of its own.",
        ),
        Hint(
            "mean for sum",
            _as(lambda look: _sums(look) / look.size),
            "These are means over the ranks: the terms are to be added up, and nothing is divided.",
        ),
        Hint(
            "largest for sum",
            lambda look: (
                look.size > 1
                and any(
                    e.reduction not in ("", "sum", "avg") for e in look.events("reduce_scatter")
                )
            ),
            "The reduce-scatter is to add up: that is ReduceOp.SUM, its default.",
        ),
        Hint(
            "one buffer size times",
            lambda look: (
                look.size > 1 and all(look.same(look.wanted[-1], got) for got in look.returned)
            ),
            "Every rank has the last rank's rows: `[tensor] * size` holds one tensor `size` times, "
            "and each row block that arrives overwrites the one before.",
        ),
        Hint(
            "rows in other places",
            lambda look: (
                look.size > 1
                and (
                    any(misplaced(w, g) for w, g in look.pairs())
                    or all(any(look.same(w, g) for w in look.wanted) for g in look.returned)
                )
            ),
            "The rows are right and on another rank or in another order: row block r belongs to "
            "rank r.",
        ),
        NEARLY,
        Hint(
            "pieces not contiguous",
            lambda look: look.size > 1,
            "Something else came out. Compute gelu(X·W1ᵀ)·W2ᵀ on one rank, and see where yours "
            "departs from it. (A reduce-scatter wants pieces that are contiguous, and can add up "
            "other elements without a word where they are not: cut along rows, the first "
            "dimension.)",
        ),
    ),
)
