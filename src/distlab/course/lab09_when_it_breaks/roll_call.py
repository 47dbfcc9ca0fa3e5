"""Lab 09, `roll_call`: who is missing?

What is right depends on when each rank really called and returned. A rank that called close to
another's deadline may be on that rank's list or not.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from distlab import notebook
from distlab.course.lab09_when_it_breaks import meeting as stores
from distlab.course.lab09_when_it_breaks import rounds
from distlab.course.lab09_when_it_breaks.meeting import Answer, Call, Meeting
from distlab.course.lab09_when_it_breaks.rounds import ABSENT, IN_TIME, MOMENT, NEVER, came
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.raised import Advice

PATIENCE = 1.5  # seconds after the latest deadline for which answers are waited for
LATE, EARLY = "after its time was up", "before its time was up"
LONG_AFTER = "after the last call"
LOST = "What several read, add to and write back loses what another has written meanwhile."


def _call(function, rank: int, size: int, inputs: dict[str, Any]) -> Any:
    """Rank 0 starts the workers and holds the roll calls; each rank reports for one worker."""
    found = rounds.held_by_rank_0(
        rank, size, lambda factor: _held(function, size, inputs, factor), [rank]
    )
    return found[0] if found else "nothing"


def _held(function, size: int, inputs: dict, factor: float) -> rounds.Held:
    """Hold the roll calls of a case in turn, with all times multiplied by `factor`. A roll call has
    as many ranks as moments; those beyond `size` have no worker, and call in none.
    """
    seconds = inputs["seconds"] * factor
    names = inputs.get("names", [_name(number) for number in range(len(inputs["calls"]))])
    turns = []
    for name, moments in zip(names, inputs["calls"], strict=True):
        calls = [
            None if at is None else Call(at * factor, (name, rank, len(moments), seconds))
            for rank, at in enumerate(moments[:size])
        ]
        latest = max(call.at for call in calls if call) + seconds
        lists = [_planned(moments, rank, inputs["seconds"]) for rank in range(size)]
        turns.append(rounds.Round(calls, latest + PATIENCE * factor, lists))

    def judge(number: int, rank: int, answers: list[Answer | None], lag: float):
        own, margin = answers[rank], max(0.1, 0.2 * seconds) + 3 * lag
        when = _moment(own, answers, seconds, margin, lag)
        longer = "" if when == IN_TIME or factor == 1 else f", tried again with {seconds:g} s"
        nobody = [None] * (len(inputs["calls"][number]) - size)
        return _may_be(own.value, rank, [*answers, *nobody], seconds, margin), when + longer

    slowness = inputs.get("slowness", stores.SLOWNESS)
    with Meeting(function, size, inputs["store"], slowness=slowness) as meeting:
        return rounds.held_in_turn(meeting, turns, judge, ", by when that was no longer so")


def _name(number: int) -> str:
    """Of the roll call of that number, counted from 0. Followed by the number of rank 1 it is the
    name of the next one: two keys are one where nothing stands between name and rank.
    """
    return "step " + "1" * (number + 1)


def _planned(moments: list, rank: int, seconds: float) -> str:
    """What a rank returns if all call when they are to."""
    own = moments[rank]
    if own is None:
        return ABSENT
    return str([r for r, at in enumerate(moments) if at is None or at > own + seconds])


def _may_be(value: Any, rank: int, answers: list, seconds: float, margin: float) -> bool:
    """Can this be the list of those that had not called by the end of a rank's time?"""
    own = answers[rank]
    if not isinstance(value, (list, tuple)) or any(type(item) is not int for item in value):
        return False
    others = set(range(len(answers))) - {rank}
    if list(value) != sorted(set(value)) or not set(value) <= others:
        return False
    deadline = own.called + seconds
    for other in others:
        called = answers[other].called if answers[other] else math.inf
        if called <= deadline - margin and other in value:
            return False
        if called > min(deadline + margin, own.returned) and other not in value:
            return False
    return True


def _moment(own: Answer, answers: list, seconds: float, margin: float, lag: float) -> str:
    if own.value in ([], ()):
        last = max(answer.called for answer in answers if answer)
        return rounds.moment(own.returned - last, lag, LONG_AFTER)
    late = own.returned - own.called - seconds
    if late < -margin:
        return f"{-late:.1f} s {EARLY}"
    return rounds.moment(late, lag, LATE, 0.4 * seconds)


# what hints ask


@dataclass(frozen=True)
class _Wrong:
    """What a rank returned in the roll call of this number, where that was wrong.

    `calls`: when each rank called. `listed`: the ranks that are on its list, `None` where it is no
    list of ints; `right`: those that should be.
    """

    rank: int
    number: int
    calls: list[float | None]
    listed: set[int] | None
    right: set[int]

    def had_called(self) -> set[int]:
        """The others that are on the list although they had called."""
        called = {rank for rank, at in enumerate(self.calls) if at is not None}
        return called & self.listed - self.right - {self.rank}


def _wrong(look: Look) -> list[_Wrong]:
    calls = look.case.params["calls"]
    return [
        _Wrong(rank, number, calls[number], _list(returned), _list(right))
        for rank, lists in enumerate(look.pairs())
        for number, (right, returned) in enumerate(zip(*lists, strict=True))
        if right != returned
    ]


def _list(text: str) -> set[int] | None:
    """The ranks on a list of ints, from its text."""
    try:
        value = ast.literal_eval(notebook.parse(text, mode="eval"))
    except (ValueError, SyntaxError):
        return None
    if isinstance(value, list) and all(type(item) is int for item in value):
        return set(value)
    return None


def _some(test: Callable[[Look, _Wrong], bool]) -> Callable[[Look], bool]:
    """A hint's `shows`: does this hold for some wrong list of ints?"""
    return lambda look: any(test(look, one) for one in _wrong(look) if one.listed is not None)


def _in_earlier(look: Look, one: _Wrong) -> bool:
    """Is a rank taken for present that had called only in an earlier roll call, or in none?"""
    earlier = look.case.params["calls"][: one.number]
    return one.number > 0 and any(
        one.calls[other] is None
        and (other >= look.size or any(calls[other] is not None for calls in earlier))
        for other in one.right - one.listed
    )


def _stayed(look: Look) -> bool:
    """Did a rank return late that was right in that all had called?"""
    return any(
        LONG_AFTER in when and returned == right
        for told in zip(look.wanted, look.returned, look.left(MOMENT), strict=True)
        for right, returned, when in zip(*told, strict=True)
    )


def _had_given_up(look: Look, one: _Wrong) -> bool:
    """Is a rank on the list whose time was up before this one called?"""
    seconds, own = look.case.params["seconds"], one.calls[one.rank]
    return any(one.calls[other] + seconds < own for other in one.had_called())


def _only_behind_absent(look: Look) -> bool:
    """Is it right up to the first absent rank of each list, and too long only behind that?"""
    wrong = _wrong(look)
    return bool(wrong) and all(
        one.listed
        and one.right
        and one.right < one.listed
        and min(one.right) < min(one.listed - one.right)
        for one in wrong
    )


exercise = Exercise(
    points=3,
    make=lambda case: [dict(case.params)] * case.size,
    call=_call,
    calls=True,
    forks=True,
    group=False,
    deadline=60.0,  # most of it is waiting, and what fails is repeated with longer times
    asks="roll_call waits for the other ranks for at most `seconds` and returns the sorted list of "
    "those that had not called by then; once all have called, everybody returns [] within half a "
    "second.",
    visible=(
        Case(3, 1, {"store": stores.HASH, "seconds": 2.0, "calls": [[0.0, 0.1, 0.05]]}),
        # before the TCPStore, which may or may not have time for an answer when it is given 0 s
        Case(4, 3, {"store": stores.PREFIXED_HASH, "seconds": 0.5,
                    "calls": [[0.0, None, None, 0.9]]}),
        Case(3, 2, {"store": stores.TCP, "seconds": 0.6,
                    "calls": [[0.0, 0.2, None], [None, 0.0, None]]}),
    ),
    advice=(
        Advice(
            "add to a text", stores.ADDED_TO_A_TEXT,
            "A store that is asked to add to a key that holds a text breaks off (a TCPStore by "
            "closing the connection). Is one key used for both? Keys of this roll call and of an "
            "earlier one can be the same text, too: \"step 1\" followed by rank 1 is \"step 11\", "
            "the name of the next. Put something between name and rank.",
        ),
    ),
    hints=(
        Hint(
            "never returned", came(NEVER),
            "A call of yours never came back. A loop that waits for all ranks needs an end for the "
            "case that one never comes: `seconds` after the call. store.get waits for five "
            "minutes, store.wait as long as it is told, and some stores take a time of 0 (or "
            "under a millisecond) for \"forever\": when nothing is left of the time, only look, "
            "with store.check.",
        ),
        Hint(
            "no list of ints",
            lambda look: any(one.listed is None for one in _wrong(look)),
            "Return a list of plain ints, an empty one when all have called.",
        ),
        Hint(
            "an earlier roll call counts", _some(_in_earlier),
            "A rank was taken for present that had not called in this roll call. Keys stay in a "
            "store: is the name part of every one, and does something stand between name and rank? "
            "(\"step 1\" followed by rank 10 reads like \"step 11\" followed by rank 0.) And is "
            "every rank looked for, rank 0 too?",
        ),
        Hint(
            "time for each rank", lambda look: look.size > 2 and came(LATE)(look),
            "`seconds` is for all ranks together, from the call on. When the first absent rank has "
            "used it up, nothing is left for the next: work out a deadline once, and wait for what "
            "is left of it.",
        ),
        Hint(
            "waited longer", came(LATE),
            "A rank gave up only after its time was up. `seconds` need not be a whole number: "
            "round and math.ceil make another time of it. And no pause between two looks may be "
            "longer than what is left of it.",
        ),
        Hint(
            "stayed to the end", _stayed,
            "All had called, and a rank still sat there. Look often, or wait for the keys, so that "
            "you can return as soon as the last one is there.",
        ),
        Hint(
            "not looked at", _only_behind_absent,
            "Ranks are on the list that had called, each behind an absent one. When that one has "
            "used up the time, look once more at each of the others, with store.check: a "
            "store.wait that is given no time may end without a look.",
        ),
        Hint(
            "itself", _some(lambda look, one: one.rank in one.listed),
            "A rank stands on its own list. Whoever calls is there: enter yourself first, then "
            "look for the others. (If these are the ranks that had called: asked for are those "
            f"that had not.) {LOST}",
        ),
        Hint(
            "had called before", _some(_had_given_up),
            "A rank is on the list of a later caller although it had called, and given up, before. "
            "It had called: leave its key where it is.",
        ),
        Hint(
            "did not wait", came(EARLY),
            "A rank returned with ranks on its list before its time was up: they might still have "
            "come. (`seconds` need not be a whole number: round makes 0 of less than a half, and "
            "int of less than 1.)",
        ),
        Hint(
            "no note left", _some(lambda look, one: bool(one.had_called())),
            "A rank is on the list that had called in time. Each has to leave its own note, before "
            f"it looks for those of the others, and the note has to stay when it returns. {LOST}",
        ),
        Hint(
            "not sorted", _some(lambda look, one: one.listed == one.right),
            "These are the right ranks in another order, or some of them twice: return a sorted "
            "list.",
        ),
        Hint(
            "present ranks",
            _some(lambda look, one: bool(one.listed) and not one.listed & one.right),
            "The list names ranks that had called: asked for are those that had not.",
        ),
        Hint(
            "not all", _some(lambda look, one: one.listed < one.right),
            "Not all are on the list that had not called. When the time is up, look at each of "
            "the others, behind the first absent one too.",
        ),
    ),
)  # fmt: skip
