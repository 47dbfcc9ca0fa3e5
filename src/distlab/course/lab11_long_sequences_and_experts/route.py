"""`route`: each token's expert, and its slot within that expert's capacity."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from distlab.course.lab11_long_sequences_and_experts import returning
from distlab.course.lab11_long_sequences_and_experts.returning import pair
from distlab.exercises import hints
from distlab.exercises.exercise import Case, Exercise, Hint, Look


def _make(case: Case) -> list[dict]:
    """Logits; `kind`: "ties" are small integers, "close" differ in their last bit alone, "low"
    lie far below 0, from token to token deeper.
    """
    tokens, experts = case.params["tokens"], case.params["experts"]
    drawn, dtype = case.generator(), case.get("dtype", "float32")
    logits = drawn.standard_normal((tokens, experts)).astype(dtype)
    kind = case.get("kind")
    if kind == "ties":
        logits = drawn.integers(-1, 2, (tokens, experts)).astype(dtype)
    elif kind == "close":
        base = np.full((tokens, experts), 0.01, dtype)
        winner = drawn.integers(0, experts, tokens)
        base[np.arange(tokens), winner] = np.nextafter(base[0, 0], np.asarray(30, dtype))
        logits = base
    elif kind == "low":
        logits -= (10.0 ** (np.arange(tokens) % 7))[:, None].astype(dtype)
    elif kind == "one":
        logits[:, case.params["expert"]] += 100
    return [{"logits": logits, "capacity": case.params["capacity"]} for _ in range(case.size)]


def _got(look: Look) -> tuple[np.ndarray, np.ndarray] | None:
    return pair(look.returned[0])


def _best(look: Look) -> np.ndarray:
    return np.argmax(look.inputs[0]["logits"], axis=1)


def _slots(chosen: np.ndarray) -> np.ndarray:
    """For each token the number of earlier ones with the same expert."""
    return np.array([int((chosen[:i] == e).sum()) for i, e in enumerate(chosen)], dtype="int64")


def _dropped(chosen: np.ndarray, slots: np.ndarray, room: np.ndarray) -> tuple:
    return np.where(room, chosen, -1), np.where(room, slots, -1)


def _as(of: Callable[[Look], tuple[np.ndarray, np.ndarray]]) -> Callable[[Look], bool]:
    """Did it return these two, and is that wrong?"""

    def shows(look: Look) -> bool:
        got, right, like = _got(look), look.wanted[0], of(look)
        return all(map(np.array_equal, like, got)) and not all(map(np.array_equal, right, got))

    return shows


def _with(change: Callable[[np.ndarray, np.ndarray, int], tuple]) -> Callable[[Look], bool]:
    """Did it return what this makes of the right experts, their slots and the capacity?"""
    return _as(lambda look: change(_best(look), _slots(_best(look)), look.inputs[0]["capacity"]))


def _chose(of: Callable[[np.ndarray], np.ndarray]) -> Callable[[Look], bool]:
    """Were tokens sent to the experts that this makes of their logits?"""

    def routed(look: Look) -> tuple[np.ndarray, np.ndarray]:
        chosen = of(look.inputs[0]["logits"])
        slots = _slots(chosen)
        return _dropped(chosen, slots, slots < look.inputs[0]["capacity"])

    return _as(routed)


def _last_best(logits: np.ndarray) -> np.ndarray:
    return logits.shape[1] - 1 - np.argmax(logits[:, ::-1], axis=1)


def _from_behind(look: Look) -> tuple:
    chosen = _best(look)
    slots = _slots(chosen[::-1])[::-1]
    return _dropped(chosen, slots, slots < look.inputs[0]["capacity"])


def _right_with_room(look: Look) -> bool:
    room = look.wanted[0][0] >= 0
    pairs = zip(look.wanted[0], _got(look), strict=True)
    return all(np.array_equal(want[room], got[room]) for want, got in pairs)


def _another_expert(look: Look) -> bool:
    """Is a token with another expert than the best one, and not dropped?"""
    expert, _ = _got(look)
    return bool(((expert != _best(look)) & (expert >= 0)).any())


def _lost_below_zero(look: Look) -> bool:
    expert, _ = _got(look)
    return look.case.get("kind") == "low" and bool((expert != look.wanted[0][0]).any())


exercise = Exercise(
    points=2,
    make=_make,
    tuples=0,
    call=returning.call_pure,
    group=False,
    asks="route returns (expert, slot): each token's best expert and how many earlier tokens chose "
    "it, and −1 for both where that number is not below the capacity.",
    visible=(
        Case(1, 1, {"tokens": 9, "experts": 2, "capacity": 2}),
        Case(1, 2, {"tokens": 5, "experts": 2, "capacity": 5, "kind": "ties"}),
    ),
    hints=(
        hints.NOTHING,
        returning.CHANGED,
        Hint(
            "no pair of tensors",
            lambda look: _got(look) is None,
            "Two tensors are asked for: `return expert, slot`.",
        ),
        Hint(
            "other dtype",
            lambda look: any(part.dtype != "int64" for part in _got(look)),
            "Both are int64: torch.where, one_hot and cumsum keep it, a mean or a division "
            "does not, and a mask is bool.",
        ),
        Hint(
            "another shape",
            lambda look: any(
                g.shape != w.shape for g, w in zip(_got(look), look.wanted[0], strict=True)
            ),
            "Both have one number for each token, shape (tokens,), also where there are none.",
        ),
        Hint(
            "last of equals",
            _chose(_last_best),
            "Of experts with equal logits the lowest counts: argmax gives that one, topk and sort "
            "promise nothing about it.",
        ),
        Hint(
            "smallest logit",
            _chose(lambda logits: np.argmin(logits, axis=1)),
            "Tokens went to the expert with the smallest logit: the largest is asked for.",
        ),
        Hint(
            "nobody dropped",
            _with(lambda e, s, c: (e, s)),
            "An expert takes `capacity` tokens. Those that come later get −1 for both.",
        ),
        Hint(
            "one too many",
            _with(lambda e, s, c: _dropped(e, s, s <= c)),
            "An expert got capacity + 1 tokens: slots begin at 0, so the last one is capacity − 1.",
        ),
        Hint(
            "one too few",
            _with(lambda e, s, c: _dropped(e, s, s < c - 1)),
            "An expert has room for one token more: slots begin at 0, so the last one is "
            "capacity − 1.",
        ),
        Hint(
            "counts itself",
            lambda look: any(
                _with(lambda e, s, c, m=m: _dropped(e, s + 1, s + m < c))(look) for m in (0, 1)
            ),
            "A token's slot is the number of *earlier* tokens with the same expert: the first "
            "has slot 0. A cumulative sum counts the token itself.",
        ),
        Hint(
            "without room",
            _right_with_room,
            "Tokens that find room are right, and the others are not: such a token goes to no "
            "expert, and has −1 for both.",
        ),
        Hint(
            "slot first",
            _with(lambda e, s, c: _dropped(s, e, s < c)),
            "The two are the other way round: `return expert, slot`.",
        ),
        Hint(
            "last come first",
            _as(_from_behind),
            "Earlier tokens come first: the last ones are those that find no room.",
        ),
        Hint(
            "low logits",
            _lost_below_zero,
            "All logits of a token lie far below 0 here; cases with larger ones came out right. A "
            "search for the largest begins with the first of them, or with −inf, and not with a "
            "number such as 0 or −1000, below which nothing would be chosen.",
        ),
        Hint(
            "another expert",
            _another_expert,
            "A token is with another expert than that of its largest logit. A softmax rounds, and "
            "so does a narrower type: two logits that differ can become equal. And a full expert "
            "drops its tokens, it does not hand them to the next best.",
        ),
        Hint(
            "numbered through",
            lambda look: True,
            "No token is with another expert than its best, but slots are wrong, or other tokens "
            "were dropped: each expert counts for itself, in the order of the tokens, and a "
            "token's slot is the number of earlier ones there.",
        ),
    ),
)
