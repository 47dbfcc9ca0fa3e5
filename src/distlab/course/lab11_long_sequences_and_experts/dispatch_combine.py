"""`dispatch_combine`: tokens to their experts' ranks and back, and no more than that."""

from __future__ import annotations

from typing import Any

import numpy as np

from distlab.course.lab11_long_sequences_and_experts import carried
from distlab.course.lab11_long_sequences_and_experts.returning import (
    NEARLY,
    one,
    shape_of,
    shortened,
)
from distlab.exercises import hints
from distlab.exercises.compare import KEEPS_FLOAT64
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.raised import Advice

_CALLS = "number of calls of expert_fn"
_GIVEN = "tokens that expert_fn was given, sorted"
#: bytes that a rank may send to each rank besides tokens: one count in int64
_WORDS = 8


def _make(case: Case) -> list[dict]:
    """`tokens`: how many each rank has. `to`: their experts, "any" with −1 among them, "kept" (any
    without −1), "next" (the next rank's), or one for all.
    """
    counts, d = case.params["tokens"], case.params["d"]
    dtype, to = case.get("dtype", "float32"), case.get("to", "any")
    inputs = []
    for rank in range(case.size):
        drawn = case.generator(rank)
        expert = drawn.integers(-1, case.size, counts[rank])
        if to == "next":
            expert = np.full(counts[rank], (rank + 1) % case.size)
        elif to == "kept":
            expert = drawn.integers(0, case.size, counts[rank])
        elif to != "any":
            expert = np.full(counts[rank], to)
        tokens = drawn.standard_normal((counts[rank], d)).astype(dtype)
        inputs.append({"tokens": tokens, "expert": expert.astype("int64")})
    return inputs


def _output(tokens: Any, rank: int) -> Any:
    """What a rank's expert makes of tokens, row by row. Zeros do not stay zeros."""
    return tokens * (rank + 2) + tokens * tokens + (rank + 1)


class _Expert:
    """The `expert_fn` of a rank, which remembers what it was called with."""

    def __init__(self, rank: int, d: int) -> None:
        self.rank, self.d, self.given = rank, d, []

    def __call__(self, tokens):
        if tokens.dim() != 2 or tokens.shape[1] != self.d:
            shape = tuple(tokens.shape)
            raise ValueError(f"expert_fn takes a tensor of shape (m, {self.d}), not {shape}")
        self.given.append(tokens.detach().clone())
        return _output(tokens, self.rank).contiguous()

    def rows(self, like):
        """All rows that it was given, sorted: in which order they came does not matter."""
        import torch

        rows = torch.cat(self.given) if self.given else like[:0]
        # by four of their numbers at most: these are random, so that no two rows agree in all
        order = np.lexsort(rows.detach().cpu().numpy().T[::-1][-4:])
        return rows[torch.from_numpy(order).to(rows.device)]


def _call(function, rank, size, inputs):
    tokens = inputs["tokens"]
    kept, expert = tokens.clone(), _Expert(rank, tokens.shape[1])
    result = function(rank, size, tokens, inputs["expert"], expert)
    return {
        "returned": shortened(result),
        _CALLS: len(expert.given),
        _GIVEN: shortened(expert.rows(kept)),
    }


def _bytes_of_tokens(look: Look, rank: int) -> int:
    """What a rank sends when each routed token goes out once and each that came goes back once."""
    given = look.inputs[rank]
    out, back = (given["expert"] >= 0).sum(), sum((e == rank).sum() for e in look.given("expert"))
    return int(out + back) * given["tokens"].shape[1] * given["tokens"].itemsize


def _each_token_once_each_way(look: Look) -> str | None:
    for rank in look.ranks:
        most = _bytes_of_tokens(look, rank) + _WORDS * look.size
        sent = sum(e.nbytes for e in carried.all_to_alls(look, rank))
        if sent > most:
            return (
                f"rank {rank} handed {sent} bytes to its all-to-alls, where its tokens on their "
                f"way out, those that it sends back and what says how many come to {most} at most."
            )
    return None


def _nothing_sent(look: Look) -> bool:
    """Did no rank call an all-to-all, though tokens have experts on other ranks?"""
    away = [((c >= 0) & (c != rank)).any() for rank, c in enumerate(look.given("expert"))]
    return any(away) and not look.events("all_to_all")


def _in_another_order(look: Look) -> bool:
    """Are a rank's rows right, but for their order?"""

    def in_order(rows):
        return rows[np.lexsort(rows.round(3).T)]

    return any(
        one(g) is not None
        and g.shape == w.shape
        and not look.same(w, g)
        and look.same(in_order(w), in_order(g))
        for w, g in look.pairs()
    )


def _wrong_only(look: Look, where) -> bool:
    """Is every rank right but for rows at which `where(expert, rank)` is true?"""
    wrong = False
    for rank, ((want, got), expert) in enumerate(
        zip(look.pairs(), look.given("expert"), strict=True)
    ):
        if one(got) is None or got.shape != want.shape:
            return False
        there = where(expert, rank)
        if not look.same(want[~there], got[~there]):
            return False
        wrong |= not look.same(want[there], got[there])
    return wrong


def _rows_given(look: Look) -> list[tuple[int, ...]]:
    """For each rank how many tokens its expert should have been given, and how many it was."""
    return [
        tuple(side["shape"][0] if isinstance(side, dict) else len(side) for side in sides)
        for sides in look.pairs(_GIVEN)
    ]


exercise = Exercise(
    points=5,
    make=_make,
    call=_call,
    tolerance=KEEPS_FLOAT64,
    asks="In dispatch_combine each token goes to the rank of its expert and its output comes back, "
    "zeros where expert is −1; expert_fn is called once on each rank, on the tokens routed to it.",
    visible=(
        Case(2, 1, {"tokens": [4, 3], "d": 2}),
        Case(3, 2, {"tokens": [3, 0, 5], "d": 3}),
        Case(4, 3, {"tokens": [2, 6, 1, 4], "d": 2}),
    ),
    traffic=(carried.all_to_alls_alone, _each_token_once_each_way),
    hints=(
        hints.NOTHING,
        carried.messages("All-to-alls are asked for, not messages between two ranks."),
        carried.ONE_ROOT,
        carried.gathered(
            "Only all-to-alls are asked for, and each token goes to one rank alone. How many are "
            "to come a rank learns by an all-to-all as well: one number for each rank."
        ),
        carried.SOMETHING_ELSE,
        hints.EARLY,
        Hint(
            "nothing sent",
            _nothing_sent,
            "No rank called an all-to-all. Each rank's expert_fn is another one, and expert e "
            "lives on rank e: a token has to get there.",
        ),
        Hint(
            "expert_fn left out",
            lambda look: 0 in look.left(_CALLS),
            "expert_fn was not called on some rank. It is called on every rank, also where no "
            "token came: with a tensor of shape (0, d).",
        ),
        Hint(
            "expert_fn called several times",
            lambda look: max(look.left(_CALLS)) > 1,
            "expert_fn was called more than once: put the tokens of all ranks into one tensor. "
            "One large matrix product is faster than many small ones.",
        ),
        Hint(
            "tokens without an expert",
            lambda look: _wrong_only(look, lambda expert, rank: expert < 0),
            "The rows of tokens with expert −1 are to be zeros: such a token goes nowhere. "
            "(x[-1] is the last element: −1 is easily taken for the last rank.)",
        ),
        Hint(
            "dropped tokens sent",
            lambda look: (
                any(got > want for want, got in _rows_given(look))
                and any((c < 0).any() for c in look.given("expert"))
            ),
            "An expert got more tokens than were routed to it: those with expert −1 are routed "
            "to nobody, and padding is no token.",
        ),
        Hint(
            "filled up",
            lambda look: any(got > want for want, got in _rows_given(look)),
            "An expert got more rows than tokens were routed to it: the pieces were filled up to "
            "one length. all_to_all_single takes the lengths of unequal pieces.",
        ),
        Hint(
            "too much carried",
            lambda look: _each_token_once_each_way(look) is not None,
            "More travelled than each routed token once each way, and one number for each rank. "
            "Which expert a token is for is told by the rank that it is sent to, and where its "
            "output belongs its own rank remembers.",
        ),
        Hint(
            "tokens missing",
            lambda look: any(got < want for want, got in _rows_given(look)),
            "An expert did not get all tokens that were routed to it.",
        ),
        hints.DTYPE,
        shape_of("The result has the shape of tokens, (t, d), also where t is 0."),
        Hint(
            "in another order",
            _in_another_order,
            "The outputs are there, in another order than the tokens. What was sorted for the way "
            "out has to be put back: output[order] = came_back, and not came_back[order].",
        ),
        Hint(
            "own tokens lost",
            lambda look: look.size > 1 and _wrong_only(look, lambda expert, rank: expert == rank),
            "The tokens whose expert lives on their own rank are wrong, the others are right.",
        ),
        NEARLY,
        Hint(
            "other tokens",
            lambda look: look.differs(_GIVEN),
            "An expert was given as many tokens as were routed to it, but not these, or not in "
            "their dtype: rows go out as they are, in the order of their experts.",
        ),
        Hint(
            "sent back to others",
            lambda look: look.size > 1,
            "The experts saw the right tokens, and what came back is wrong, or in wrong places. "
            "The way back is the way out with both lists of lengths exchanged, and rows come back "
            "in the order in which they left.",
        ),
    ),
    advice=(
        Advice(
            "lengths that are none",
            "Overflow when unpacking|negative dimension|nonnegative|invalid negative",
            "A length is far below 0. Were the counts read before the request of their all-to-all "
            "had been waited for?",
        ),
        Advice(
            "lengths that do not add up",
            "Split sizes doesn't match|inLengthPerRank",
            "The lengths of what goes have to add up to the rows of the input, those of what comes "
            "to the rows of the output, and a rank expects from another what that one sends it. "
            "all_to_all_single takes them in the order output, input. A token with expert −1 is in "
            "no length, so it may not lie among the rows that go.",
        ),
    ),
)
