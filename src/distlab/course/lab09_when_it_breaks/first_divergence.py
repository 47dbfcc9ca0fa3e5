"""Lab 09, `first_divergence`: where ranks that should all call the same stop doing so."""

from __future__ import annotations

import copy
import random
from collections import Counter
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


def _wrong(look: Look):
    """(logs, what was returned, what should have been) of the wrong answers."""
    found = look.got[0]["returned"], look.expected[0]["returned"]
    for logs, got, want in zip(look.inputs[0]["all_logs"], *found, strict=True):
        if not look.same(want, got):
            yield logs, got, want


def _some(look: Look, test) -> bool:
    return any(test(*found) for found in _wrong(look))


def _index(value: Any) -> Any:
    return value[0] if isinstance(value, (tuple, list)) and len(value) == 2 else None


def _ranks(value: Any) -> Any:
    return value[1] if isinstance(value, (tuple, list)) and len(value) == 2 else None


def _entries(logs, index: int) -> list:
    return [log[index] if index < len(log) else None for log in logs]


def _tied(logs, got, want) -> bool:
    """Are two entries equally frequent there?"""
    if want is None or _index(got) != want[0]:
        return False
    counts = Counter(_entries(logs, want[0])).most_common(2)
    return len(counts) > 1 and counts[0][1] == counts[1][1]


def _against_rank_0(logs, got, want) -> bool:
    if want is None or _index(got) != want[0]:
        return False
    entries = _entries(logs, want[0])
    return _ranks(got) == [r for r, entry in enumerate(entries) if entry != entries[0]]


def _ended_counted_out(logs, got, want) -> bool:
    """Is the place right, and is None the most frequent entry there?"""
    if want is None or _index(got) != want[0]:
        return False
    entries = _entries(logs, want[0])
    return all(entries[r] is None for r in range(len(entries)) if r not in want[1])


def _past_the_end(logs, got, want) -> bool:
    """Do the logs differ only in how long they are, and was that missed?"""
    return want is not None and got is None and None in _entries(logs, want[0])


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
            "logs changed", lambda look: look.got[0]["logs"] == "changed",
            "The logs were changed: whoever asked still needs them. Work on copies, or only look.",
        ),
        Hint(
            "no pair",
            lambda look: _some(look, lambda logs, got, want: got is not None and (
                type(_index(got)) is not int or not isinstance(_ranks(got), list))),
            "Return None, or a tuple of the index and a sorted list of ranks.",
        ),
        Hint(
            "stops with the shortest", lambda look: _some(look, _past_the_end),
            "These logs agree as far as the shortest of them goes, and then one goes on: that is a "
            "difference, and the most usual one of all. A log that has ended holds None there.",
        ),
        Hint(
            "another place", lambda look: _some(look, lambda logs, got, want: want is not None
                                                and got is not None and _index(got) != want[0]),
            "That is not the first place where they differ, counted from 0: before it they agree, "
            "and what comes after it is a consequence.",
        ),
        Hint(
            "shape ignored",
            lambda look: _some(look, lambda logs, got, want: want is not None and got is None
                               and len({e and e[0] for e in _entries(logs, want[0])}) == 1),
            "Two calls of one name on tensors of other shapes do not fit together either: compare "
            "the whole entry.",
        ),
        Hint(
            "ended logs",
            lambda look: _some(look, lambda *f: _ended_counted_out(*f) and not _tied(*f)),
            "Where a log has ended, it holds None, and None counts like any other entry: it can be "
            "the most frequent one.",
        ),
        Hint(
            "ranks against rank 0",
            lambda look: _some(look, lambda *f: _against_rank_0(*f) and not _tied(*f)),
            "The ranks are those that differ from rank 0. When rank 0 is the odd one out, it is "
            "the one to name: the most frequent entry counts as right.",
        ),
        Hint(
            "equally frequent", lambda look: _some(look, _tied),
            "Two entries are equally frequent there. Then the lowest rank's counts as the most "
            "frequent one.",
        ),
        Hint(
            "ranks that agree",
            lambda look: _some(look, lambda logs, got, want: want is not None and (
                _ranks(got) == [r for r in range(len(logs)) if r not in want[1]])),
            "The ranks are those that hold the most frequent entry: asked for are the others.",
        ),
    ),
)  # fmt: skip
