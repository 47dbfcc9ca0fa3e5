"""`ulysses_attention`: each rank has all positions of some heads, between two all-to-alls."""

from __future__ import annotations

import numpy as np

from distlab.course.lab11_long_sequences_and_experts import attention, carried
from distlab.course.lab11_long_sequences_and_experts.returning import (
    NEARLY,
    any_nan,
    call_shortened,
    misplaced,
    one,
    shape_of,
)
from distlab.exercises import hints, traffic
from distlab.exercises.exercise import Case, Exercise, Hint, Look


def _at_most_four(look: Look) -> str | None:
    for rank, given in enumerate(look.inputs):
        events, q = carried.all_to_alls(look, rank), given["q"]
        amount = sum(traffic.numbers(event, q.dtype) for event in events) / q.size
        if len(events) > 4 or amount > 4:
            return (
                f"rank {rank} called {len(events)} all-to-alls that carried {amount:.3g} times the "
                "elements of q; at most 4 with 4 times as many are asked for."
            )
    return None


def _over_heads(groups: int) -> attention.Mistake:
    """Attention between the heads of a position, in place of between the positions of a head:
    between those of each of so many groups of heads.
    """

    def mistake(look: Look, q, k, v) -> np.ndarray:
        q, k, v = (part.swapaxes(0, 1) for part in (q, k, v))
        heads = q.shape[1]
        group = np.arange(heads) * groups // heads
        visible = group[:, None] == group[None, :]
        if look.case.get("causal"):
            visible &= np.tri(heads, dtype=bool)
        return attention.attended(q, k, v, visible).swapaxes(0, 1)

    return mistake


def _not_swapped_back(look: Look) -> bool:
    """Does some rank have all positions of some heads?"""
    n, heads, d = look.inputs[0]["q"].shape
    swapped = (n * look.size, heads // look.size, d)
    return look.size > 1 and any(
        one(got) is not None and got.shape == swapped for got in look.returned
    )


def _between_heads(look: Look) -> bool:
    """Did the heads of a position attend to each other: all of them, or those of a rank?"""
    return any(
        attention.like(_over_heads(groups), heads_first=False)(look) for groups in {1, look.size}
    )


exercise = Exercise(
    points=3,
    make=attention.blocks(heads_first=False),
    call=call_shortened,
    deadline=30.0,  # the largest case, element by element in Python
    tolerance=attention.TOLERANCE,
    asks="In ulysses_attention each rank computes the attention of its heads over all positions, "
    "and returns that of its positions, (n, heads, d), after at most four all-to-alls.",
    visible=(
        Case(2, 1, {"heads": 4, "n": 3, "d": 2}),
        Case(3, 2, {"heads": 3, "n": 2, "d": 4, "causal": True}),
    ),
    traffic=(carried.all_to_alls_alone, _at_most_four),
    hints=(
        hints.NOTHING,
        carried.messages("All-to-alls are asked for, not messages between two ranks: swap_shards."),
        carried.ONE_ROOT,
        carried.gathered(
            "Nothing is gathered here. After the all-to-all a rank has all positions of its own "
            "heads, and needs nothing of the others'."
        ),
        carried.SOMETHING_ELSE,
        Hint(
            "more than four",
            lambda look: _at_most_four(look) is not None,
            "q, k and v go there, the result comes back: four all-to-alls of one tensor each, or "
            "two, where q, k and v travel together. Nothing is sent twice.",
        ),
        hints.EARLY,
        hints.DTYPE,
        Hint(
            "not swapped back",
            _not_swapped_back,
            "The result holds all positions of some heads: it has to go back to the ranks that "
            "its positions belong to.",
        ),
        shape_of(
            "The result has the shape of q, (n, heads, d). F.scaled_dot_product_attention takes "
            "and gives (heads, positions, d)."
        ),
        Hint(
            "attention between heads",
            _between_heads,
            "Heads attended to each other, within each position. The two last dimensions are what "
            "F.scaled_dot_product_attention works on: it takes (heads, positions, d).",
        ),
        *attention.hints_on_values(heads_first=False),
        Hint(
            "NaN",
            any_nan,
            "There are NaNs. Scores can be in the hundreds, and exp of that is infinite: subtract "
            "each row's maximum first. And the softmax of a row in which all is hidden is 0 / 0: "
            "each position sees itself.",
        ),
        Hint(
            "positions and heads mixed up",
            lambda look: any(misplaced(w, g) for w, g in look.pairs()),
            "The values are right and lie in other places: look at what the result looks like "
            "before it goes back, and whether it comes back into a contiguous tensor (empty_like "
            "of a transposed one is not).",
        ),
        attention.LARGE_SCORES,
        NEARLY,
        Hint(
            "mask or swap",
            lambda look: bool(look.case.get("causal")),
            "If swap_shards passes, and this is right without a mask, it is the mask: after the "
            "swap row i is position i of all, and hidden scores become −inf before the softmax (a "
            "score of 0 counts as exp(0) = 1, and weights cut off later no longer add up to 1).",
        ),
        Hint(
            "swapped wrongly",
            lambda look: look.size > 1,
            "Does swap_shards pass? Then look at what goes into it and what comes out of it: "
            "(n, heads, d), and (size·n, heads/size, d). Each all-to-all wants a contiguous "
            "input, and a contiguous output: it fills that in the order of memory.",
        ),
    ),
)
