"""Lab 09, `remaining`: the part of an epoch still to be trained on, divided among the ranks that
there are now. Any exact and fair division is right, so all ranks' lists are judged together.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np

from distlab.exercises.exercise import Case, Exercise, Hint
from distlab.exercises.traffic import silent
from distlab.rank.sharing import among_ranks

_NAMES = ("n", "epoch", "seed", "done")


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
        return {
            "list": None if wrong else mine,
            "kind": wrong or "a list of ints",
            "untouched": untouched,
            "again": repr(mine) == repr(again),
        }

    told = among_ranks("remaining", rank, size, ask)
    mine = told[rank]
    facts = {
        "returned": mine["kind"],
        "global generators": "as they were" if mine["untouched"] else "drawn from or seeded",
        "result of a second call": "the same" if mine["again"] else "another one",
    }
    lists = [one and one["list"] for one in told]
    if None in lists:
        names = "indices of all ranks", "lengths of the lists", "indices in their order"
        return facts | dict.fromkeys(names, "not asked")
    lengths = [len(some) for some in lists]
    fair = "as equal as can be" if max(lengths) - min(lengths) <= 1 else ""
    return facts | {
        "indices of all ranks": _coverage(_rest(*values), lists),
        "lengths of the lists": fair or f"{min(lengths)} to {max(lengths)}",
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
    numbers = {"missing": missing, "done before": done, "more than once": twice}
    return " and ".join(f"{n} {what}" for what, n in numbers.items() if n) or "each once"


def _covers(*words: str, without: str = "nothing"):
    """A hint's `shows`: are the indices of all ranks told of in all these words?"""
    return lambda look: any(
        all(word in told for word in words) and without not in told
        for told in look.left("indices of all ranks")
    )


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
            "no list of ints", lambda look: look.differs("returned"),
            "Return a list of plain ints: .tolist() makes one of a tensor.",
        ),
        Hint(
            "global generator", lambda look: look.differs("global generators"),
            "The global generators are not as they were: whoever trains draws dropout and "
            "augmentation from them. A torch.Generator of your own, seeded with seed + epoch, "
            "disturbs nobody.",
        ),
        Hint(
            "another result", lambda look: look.differs("result of a second call"),
            "The same call gave another result the second time: the order depends on something "
            "besides the arguments.",
        ),
        Hint(
            "another order", _covers("missing", "done before"),
            "Samples that had been trained on come again, and others are missing. Was the order "
            "drawn as the docstring says, seeded with seed + epoch, and for all n samples? And are "
            "the first `done` of that order left out, whoever had trained on them?",
        ),
        Hint(
            "begins again", _covers("done before"),
            "Samples come again that had been trained on in this epoch: the first `done` of the "
            "order are behind you.",
        ),
        Hint(
            "padded", _covers("more than once", without="missing"),
            "Some samples come twice: lists were filled up to equal lengths. Here they may differ "
            "by one instead.",
        ),
        Hint(
            "ranks disagree", _covers("missing", "more than once"),
            "Some samples come twice and others not at all: the ranks did not divide the same "
            "list in the same way.",
        ),
        Hint(
            "dropped", _covers("missing"),
            "Samples are missing. What is left over when `size` does not divide the rest belongs "
            "to somebody, and `done` counts the samples of all ranks together.",
        ),
        Hint(
            "unequal lengths", lambda look: look.differs("lengths of the lists"),
            "The lists' lengths differ by more than one. Deal the rest out like cards: every "
            "size-th of what remains, beginning with the rank's own.",
        ),
    ),
)  # fmt: skip
