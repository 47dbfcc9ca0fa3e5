"""Lab 09, `remaining`: the part of an epoch still to be trained on, divided among the ranks that
there are now. Any exact and fair division is right, so all ranks' lists are judged together.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np

from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.traffic import silent
from distlab.rank.sharing import among_ranks

_NAMES = ("n", "epoch", "seed", "done")
LIST, EACH_ONCE, FAIR = "a list of ints", "each once", "as equal as can be"
UNTOUCHED, SAME = "as they were", "the same"


def _call(function, rank: int, size: int, inputs: dict[str, Any]) -> dict[str, str]:
    import torch

    values = tuple(inputs[name] for name in _NAMES)

    def ask() -> dict[str, Any]:
        torch.rand(1 + rank)  # what others draw in between must not matter
        before = _generators()
        mine = function(*values, rank, size)
        untouched = before == _generators()
        torch.rand(3)
        again = function(*values, rank, size)
        wrong = _not_ints(mine)
        listed = None if wrong else [int(index) for index in mine]
        return {
            "list": listed,
            "kind": wrong or LIST,
            "untouched": untouched,
            "again": repr(mine) == repr(again),
        }

    told = among_ranks("remaining", rank, size, ask)
    mine = told[rank] or {"kind": "nothing", "untouched": True, "again": True}
    facts = {
        "returned": mine["kind"],
        "global generators": UNTOUCHED if mine["untouched"] else "drawn from or seeded",
        "result of a second call": SAME if mine["again"] else "another one",
    }
    if any(one is None or one["list"] is None for one in told):
        names = "indices of all ranks", "lengths of the lists", "indices in their order"
        return facts | dict.fromkeys(names, "not asked")
    lists = [one["list"] for one in told]
    lengths = [len(some) for some in lists]
    even = max(lengths) - min(lengths) <= 1
    return facts | {
        "indices of all ranks": _coverage(_rest(*values), lists),
        "lengths of the lists": FAIR if even else f"{min(lengths)} to {max(lengths)}",
        "indices in their order": sorted(index for some in lists for index in some),
    }


def _rest(n: int, epoch: int, seed: int, done: int) -> list[int]:
    """What had not been trained on, as the contract defines it."""
    import torch

    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed + epoch))
    return order.tolist()[done:]


def _generators() -> tuple:
    """The state of every global generator."""
    import torch

    state: tuple = np.random.get_state()
    kind, keys, *rest = state
    return random.getstate(), torch.get_rng_state().numpy().tobytes(), kind, keys.tobytes(), *rest


def _not_ints(answer: Any) -> str:
    """What an answer is, where it is no list of plain ints."""
    if not isinstance(answer, list):
        return "None" if answer is None else f"a {type(answer).__name__}"
    odd = [type(item).__name__ for item in answer if type(item) is not int]
    return f"a list that holds {odd[0]}" if odd else ""


def _coverage(rest: list[int], lists: list[list[int]]) -> str:
    counts = Counter(index for some in lists for index in some)
    missing = sum(index not in counts for index in rest)
    done = sum(index not in set(rest) for index in counts)
    twice = sum(count > 1 for count in counts.values())
    told = [
        f"{number} {what}"
        for number, what in ((missing, "missing"), (done, "done before"), (twice, "more than once"))
        if number
    ]
    return " and ".join(told) or EACH_ONCE


def _left(name: str, right: str):
    """A hint's `shows`: did some rank leave something else than what is right under this name?"""
    return lambda look: any(got[name] not in (right, "not asked") for got in look.got)


def _covers(look: Look, *words: str, without: str = "nothing") -> bool:
    told = [got["indices of all ranks"] for got in look.got]
    return any(all(word in one for word in words) and without not in one for one in told)


exercise = Exercise(
    points=3,
    make=lambda case: [
        {name: case.get(name, case.number(2**31)) for name in _NAMES} for _ in range(case.size)
    ],
    call=_call,
    group=False,
    asks="remaining returns this rank's list of plain ints: over all ranks each of the samples "
    "that had not been trained on exactly once, the lengths differing by one at most, and the "
    "global generators left as they are.",
    visible=(
        Case(2, 1, {"n": 10, "epoch": 0, "done": 4}),
        Case(3, 2, {"n": 20, "epoch": 3, "done": 7}),
        Case(4, 3, {"n": 12, "epoch": 1, "done": 12}),
    ),
    rules=(silent("remaining", "each rank works its list out by itself"),),
    hints=(
        Hint(
            "no list of ints", _left("returned", LIST),
            "Return a list of plain ints: .tolist() makes one of a tensor.",
        ),
        Hint(
            "global generator", _left("global generators", UNTOUCHED),
            "The global generators are not as they were: whoever trains draws dropout and "
            "augmentation from them. A torch.Generator of your own, seeded with seed + epoch, "
            "disturbs nobody.",
        ),
        Hint(
            "another result", _left("result of a second call", SAME),
            "The same call gave another result the second time: the order depends on something "
            "besides the arguments.",
        ),
        Hint(
            "another order", lambda look: _covers(look, "missing", "done before"),
            "Samples that had been trained on come again, and others are missing. Was the order "
            "drawn as the docstring says, seeded with seed + epoch, and for all n samples? And are "
            "the first `done` of that order left out, whoever had trained on them?",
        ),
        Hint(
            "begins again", lambda look: _covers(look, "done before"),
            "Samples come again that had been trained on in this epoch: the first `done` of the "
            "order are behind you.",
        ),
        Hint(
            "padded", lambda look: _covers(look, "more than once", without="missing"),
            "Some samples come twice: lists were filled up to equal lengths. Here they may differ "
            "by one instead.",
        ),
        Hint(
            "ranks disagree", lambda look: _covers(look, "missing", "more than once"),
            "Some samples come twice and others not at all: the ranks did not divide the same "
            "list in the same way.",
        ),
        Hint(
            "dropped", lambda look: _covers(look, "missing"),
            "Samples are missing. What is left over when `size` does not divide the rest belongs "
            "to somebody, and `done` counts the samples of all ranks together.",
        ),
        Hint(
            "unequal lengths", _left("lengths of the lists", FAIR),
            "The lists' lengths differ by more than one. Deal the rest out like cards: every "
            "size-th of what remains, beginning with the rank's own.",
        ),
    ),
)  # fmt: skip
