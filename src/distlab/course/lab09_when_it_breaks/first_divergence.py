"""Lab 09, `first_divergence`: where ranks that should all call the same stop doing so."""

from __future__ import annotations

import copy
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.numpy_ints import as_plain

_OPS = ("all_reduce", "broadcast", "barrier", "all_gather")
#: the logs of the visible cases
_EXAMPLES = {
    "one rank stops": [
        [("broadcast", (8,)), ("all_reduce", (4, 2)), ("barrier", ())],
        [("broadcast", (8,)), ("all_reduce", (4, 2)), ("barrier", ())],
        [("broadcast", (8,)), ("all_reduce", (4, 2))],
    ],
    "another shape": [
        [("all_reduce", (4, 2)), ("all_reduce", (4,))],
        [("all_reduce", (4, 2)), ("all_reduce", (3,))],
        [("all_reduce", (4, 2)), ("all_reduce", (3,))],
    ],
    "two ranks disagree": [[("barrier", ())], [("all_gather", (5,))]],
    "one rank goes on": [
        [("all_reduce", (2,)), ("all_reduce", (2,))],
        [("all_reduce", (2,))],
        [("all_reduce", (2,))],
    ],
    "all equal": [[("barrier", ()), ("broadcast", (1,))]] * 3,
}


def _inputs(case: Case) -> list[dict]:
    if "logs" in case.params:
        return [{"all_logs": [_EXAMPLES[case.params["logs"]]]}]
    generator = random.Random(case.number(2**63))
    many = [_drawn(generator, case.params["ranks"]) for _ in range(case.get("times", 60))]
    return [{"all_logs": many}]


def _drawn(generator: random.Random, ranks: int) -> list[list[tuple]]:
    """Equal logs, some of which are then changed at some place, cut short, or extended."""
    log = [_entry(generator) for _ in range(generator.randint(0, 6))]
    logs = [list(log) for _ in range(ranks)]
    for _ in range(generator.choice([0, 1, 1, ranks // 2, ranks])):
        one = generator.choice(logs)
        change = generator.randrange(4)
        place = generator.randint(0, len(one))
        if change == 0:
            del one[place:]
        elif change == 1:
            one.append(_entry(generator))
        elif one:
            place = min(place, len(one) - 1)
            op, shape = one[place]
            one[place] = (op, _another(shape)) if change == 2 else (_other(generator, op), shape)
    return logs


def _entry(generator: random.Random) -> tuple:
    shape = tuple(generator.randint(1, 9) for _ in range(generator.randint(0, 3)))
    return generator.choice(_OPS), shape


def _another(shape: tuple) -> tuple:
    """A shape of as many elements: the same one turned round, where that makes a difference."""
    return shape[::-1] if shape != shape[::-1] else (*shape, 1)


def _other(generator: random.Random, op: str) -> str:
    return generator.choice([other for other in _OPS if other != op])


def _call(function, rank: int, size: int, inputs: dict[str, Any]) -> dict[str, Any]:
    returned, changed = [], False
    for logs in inputs["all_logs"]:
        given = copy.deepcopy(logs)
        returned.append(as_plain(function(given)))
        changed |= given != logs
    return {"returned": returned, "logs": "changed" if changed else "as they were"}


# what hints ask


class _Wrong:
    """A wrong answer beside the right one.

    `missed`: it is None, and there is a difference; `placed`: its index is right; `entries`: those
    at the right index; `agreeing`: the ranks that hold the most frequent of these; `tied`: another
    one is as frequent.
    """

    def __init__(self, logs: list, want: Any, got: Any) -> None:
        pair = isinstance(got, (tuple, list)) and len(got) == 2
        self.got = got
        self.index, self.ranks = got if pair else (None, None)
        at, odd = want or (None, [])
        self.entries = [log[at] if at < len(log) else None for log in logs] if want else []
        self.missed = want is not None and got is None
        self.placed = want is not None and self.index == at
        self.agreeing = [rank for rank in range(len(logs)) if rank not in odd]
        counts = Counter(self.entries).most_common(2)
        self.tied = len(counts) > 1 and counts[0][1] == counts[1][1]


def _some(test: Callable[[_Wrong], Any]) -> Callable[[Look], bool]:
    """A hint's `shows`: does this hold for some wrong answer?"""
    return lambda look: any(
        test(_Wrong(logs, want, got))
        for logs, want, got in zip(look.inputs[0]["all_logs"], *look.pairs()[0], strict=True)
        if not look.same(want, got)
    )


exercise = Exercise(
    points=2,
    make=_inputs,
    tuples=1,
    call=_call,
    calls=True,
    group=False,
    asks="first_divergence returns None when all logs are equal, else (index, ranks): the first "
    "position where they differ, and the sorted list of the ranks whose entry there is not the "
    "most frequent one.",
    visible=(
        *(Case(1, number, {"logs": name}) for number, name in enumerate(_EXAMPLES, 1)),
        Case(1, 20, {"ranks": 4, "times": 20}),
    ),
    hints=(
        Hint(
            "logs changed", lambda look: look.differs("logs"),
            "The logs were changed: whoever asked still needs them. Work on copies, or only look.",
        ),
        Hint(
            "no pair",
            _some(lambda one: one.got is not None and (
                type(one.index) is not int or not isinstance(one.ranks, list)
            )),
            "Return None, or a tuple of the index and a sorted list of ranks.",
        ),
        Hint(
            "stops with the shortest", _some(lambda one: one.missed and None in one.entries),
            "These logs agree as far as the shortest of them goes, and then one goes on: that is a "
            "difference, and the most usual one of all. A log that has ended holds None there.",
        ),
        Hint(
            "another place",
            _some(lambda one: one.entries and one.got is not None and not one.placed),
            "That is not the first place where they differ, counted from 0: before it they agree, "
            "and what comes after it is a consequence.",
        ),
        Hint(
            "shape ignored",
            _some(lambda one: one.missed and len({e and e[0] for e in one.entries}) == 1),
            "Two calls of one name on tensors of other shapes do not fit together either: compare "
            "the whole entry.",
        ),
        Hint(
            "ended logs",
            _some(lambda one: one.placed and not one.tied and all(
                one.entries[rank] is None for rank in one.agreeing
            )),
            "Where a log has ended, it holds None, and None counts like any other entry: it can be "
            "the most frequent one.",
        ),
        Hint(
            "ranks against rank 0",
            _some(lambda one: one.placed and not one.tied and one.ranks == [
                rank for rank, entry in enumerate(one.entries) if entry != one.entries[0]
            ]),
            "The ranks are those that differ from rank 0. When rank 0 is the odd one out, it is "
            "the one to name: the most frequent entry counts as right.",
        ),
        Hint(
            "equally frequent", _some(lambda one: one.placed and one.tied),
            "Two entries are equally frequent there. Then the lowest rank's counts as the most "
            "frequent one.",
        ),
        Hint(
            "ranks that agree",
            _some(lambda one: one.placed and one.ranks == one.agreeing),
            "The ranks are those that hold the most frequent entry: asked for are the others.",
        ),
    ),
)  # fmt: skip
