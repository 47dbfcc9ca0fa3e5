"""`shard`: a rank's share of the indices, and how answers are judged.

Any division will do that is fair and drawn afresh, so what is compared is not the indices but what
can be said of all ranks' shares together.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.traffic import silent
from distlab.rank.sharing import among_ranks


def _arguments(case: Case) -> list[dict]:
    """`later`: how many epochs on the order is asked for again, where that is not the next one."""
    told = {
        "n": case.get("n"), "epoch": case.get("epoch", 0), "seed": case.get("seed", case.number()),
        **({"later": case.get("later")} if case.get("later") else {}),
    }  # fmt: skip
    return [told] * case.size


def _call_shard(function, rank, size, inputs):
    n, epoch, seed, later = inputs["n"], inputs["epoch"], inputs["seed"], inputs.get("later", 1)

    def ask() -> list[list[int]] | str:
        answers = []
        calls = ((epoch, seed), (epoch, seed), (epoch + later, seed), (epoch, seed + 7919))
        for turn, epoch_and_seed in enumerate(calls):
            _draw(turn + rank)  # what others draw in between must not matter
            with _hashing_as_another_python(function, rank):
                answer = function(n, rank, size, *epoch_and_seed)
            # a copy: what a later call adds to the same list must not pass for this one's answer
            answers.append([*answer] if isinstance(answer, list) else answer)
        wrong = [told for answer in answers if (told := _not_ints(answer))]
        return wrong[0] if wrong else answers

    told = among_ranks("shard", rank, size, ask)
    for one in told:
        if not isinstance(one, list):
            return {"returned": one or "nothing"}
    shares = [[answers[turn] for answers in told] for turn in range(4)]
    facts = _judged(n, rank, shares)
    if later > 1:
        facts = {name.replace("the next", "a later"): said for name, said in facts.items()}
    return {"returned": "a list of ints", **facts}


@contextlib.contextmanager
def _hashing_as_another_python(function: Any, rank: int) -> Iterator[None]:
    """Let texts hash differently on each rank, as in the processes that torchrun starts, so that an
    order seeded with the hash() of one differs too. Ranks forked from one Python would hide that.
    """
    names = getattr(inspect.unwrap(function), "__globals__", {})
    if "hash" in names:  # the answer's own
        yield
        return
    names["hash"] = functools.partial(_salted, rank)
    try:
        yield
    finally:
        names.pop("hash", None)


def _salted(rank: int, value: Any) -> int:
    return hash((rank, value)) if _holds_text(value) else hash(value)


def _holds_text(value: Any) -> bool:
    hashed: Any = type(value).__hash__  # a subclass may have a way of its own
    if hashed is tuple.__hash__:
        return any(map(_holds_text, value))
    return hashed is str.__hash__ or hashed is bytes.__hash__


def _draw(times: int) -> None:
    """Move every global generator on, on each rank by another amount."""
    import torch

    torch.rand(1 + times)
    for _ in range(1 + times):
        random.random(), np.random.random()


def _not_ints(answer: Any) -> str:
    """What an answer is, where it is no list of plain ints."""
    if not isinstance(answer, list):
        return "None" if answer is None else f"a {type(answer).__name__}"
    odd = [type(item).__name__ for item in answer if type(item) is not int]
    return f"a list that holds {odd[0]}" if odd else ""


def _judged(n: int, rank: int, shares: list[list[list[int]]]) -> dict[str, Any]:
    """What four calls gave, [call][rank]: this one, again, a later epoch, another seed."""
    now, again, later, other = shares
    size = len(now)
    lengths = [len(share) for share in now]
    shortest, longest = min(lengths), max(lengths)
    even = longest - shortest <= 1
    facts = {
        "indices of all ranks": _coverage(n, now),
        "indices of all ranks in the next epoch": _coverage(n, later),
        "lengths of the shares": "as equal as can be" if even else f"{shortest} to {longest}",
        "result of a second call": "the same" if now == again else "another one",
    }
    if n < 12 * size:  # two random orders, or divisions, agree by chance once in a million
        return facts
    facts |= {
        "order": _pattern(now[rank]),
        "order in the next epoch": "another" if now[rank] != later[rank] else "the same",
        "order for another seed": "another" if now[rank] != other[rank] else "the same",
    }
    if size > 1:
        alike = _divided_alike(now[rank], later)
        facts["division in the next epoch"] = "the same" if alike else "another"
    return facts


def _divided_alike(mine: list[int], later: list[list[int]]) -> bool:
    """Does some rank have just these indices in the next epoch, or were they not drawn at all: a
    block, or every size-th?
    """
    again = any(set(mine) == set(share) for share in later)
    return again or len(set(np.diff(sorted(mine)).tolist())) == 1


def _coverage(n: int, shares: list[list[int]]) -> str:
    counts = Counter(index for share in shares for index in share)
    if any(not 0 <= index < n for index in counts):
        return "some outside 0..n−1"
    missing, twice = n - len(counts), sum(count > 1 for count in counts.values())
    if not missing and not twice:
        return f"each of {n} once"
    parts = [f"{missing} missing"] * bool(missing) + [f"{twice} more than once"] * bool(twice)
    return " and ".join(parts)


def _pattern(share: list[int]) -> str:
    """Shuffled, or mostly going up or down by one step?"""
    steps = Counter(np.diff(share).tolist())
    regular = max(steps.values(), default=0) > len(share) / 2 or share == sorted(share)
    return "a regular one" if regular else "a shuffled one"


def _left(name: str, value: str):
    """A hint's `shows`: did some rank leave this under `name`?"""
    return lambda look: value in look.left(name)


def _coverage_says(look: Look, words: str) -> bool:
    return any(
        words in said
        for got in look.got
        for name, said in got.items()
        if name.startswith("indices of all ranks")
    )


exercise = Exercise(
    points=3,
    make=_arguments,
    call=_call_shard,
    asks="shard returns this rank's indices as a list of ints: over all ranks every index once, "
    "lengths that differ by one at most, order and division drawn afresh each epoch, the same for "
    "the same epoch and seed.",
    visible=(Case(2, 1, {"n": 31}), Case(3, 2, {"n": 40, "epoch": 5}), Case(4, 3, {"n": 2})),
    rules=(silent("shard", "each rank works its share out by itself"),),
    hints=(
        Hint(
            "no list of ints",
            lambda look: look.differs("returned"),
            "Return a list of plain ints: .tolist() makes one of a tensor or an array, int(i) one "
            "of a single element.",
        ),
        Hint(
            "generator not seeded",
            _left("result of a second call", "another one"),
            "The same call gave another answer the second time: what an earlier call left is still "
            "in it, or the order was drawn from a generator that others draw from too, or that "
            "was not seeded. Make one in the function, seeded from what all ranks know.",
        ),
        Hint(
            "not divided",
            # with fewer samples than ranks, shares that were filled up have all of them twice, too
            lambda look: look.case.get("n") >= look.size
            and _coverage_says(look, f"{look.case.get('n')} more than once"),
            "Every index came more than once: rank and size say which piece of the order is this "
            "rank's own.",
        ),
        Hint(
            "padded",
            lambda look: _coverage_says(look, "more than once")
            and not _coverage_says(look, "missing"),
            "Some indices came twice: shares were filled up to equal lengths, or they overlap. "
            "Lengths may differ by one here instead.",
        ),
        Hint(
            "rest dropped",
            lambda look: _coverage_says(look, "missing")
            and not _coverage_says(look, "more than once"),
            "Indices are missing. They go from 0 to n − 1, and where n is no multiple of size the "
            "rest belongs to somebody too.",
        ),
        Hint(
            "ranks disagree",
            lambda look: _coverage_says(look, "missing and"),
            "Some indices came twice and others not at all. Either the ranks did not cut up the "
            "same order: all have to draw it from the same seed, and rank only says which piece to "
            "take. (hash() of a text is another number in every Python that is started.) Or the "
            "pieces overlap and leave gaps, or indices were drawn with replacement.",
        ),
        Hint(
            "unequal lengths",
            lambda look: look.differs("lengths of the shares"),
            "The shares' lengths differ by more than one: one rank would still work while the "
            "others wait. Where n is no multiple of size, the rest is spread over several ranks.",
        ),
        Hint(
            "not shuffled", _left("order", "a regular one"),
            "The indices come in order, or in steps of one size: draw an order at random.",
        ),
        Hint(
            "epoch ignored", _left("order in the next epoch", "the same"),
            "The next epoch has the same order: the epoch has to go into what you seed with, "
            "however many have gone before.",
        ),
        Hint(
            "order comes back", _left("order in a later epoch", "the same"),
            "After some epochs an order came back: each epoch has one of its own. (epoch % k has k "
            "values, however many epochs there are.)",
        ),
        Hint(
            "seed ignored", _left("order for another seed", "the same"),
            "Another seed gave the same order: whoever repeats an experiment changes the seed. "
            "(seed * epoch is 0 in epoch 0, whatever the seed is.)",
        ),
        Hint(
            "same division", _left("division in the next epoch", "the same"),
            "The same indices stay together, in another order or on another rank: shuffle all n "
            "first, then divide.",
        ),
    ),
)  # fmt: skip
