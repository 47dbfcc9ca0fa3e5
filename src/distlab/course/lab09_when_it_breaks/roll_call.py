"""Lab 09, `roll_call`: who is missing?

What is right depends on when each rank really called and returned. A rank that called close to
another's deadline may be on that rank's list or not.
"""

from __future__ import annotations

import math
from typing import Any

from distlab import notebook
from distlab.course.lab09_when_it_breaks import meeting as stores
from distlab.course.lab09_when_it_breaks.meeting import (
    Answer,
    Call,
    Meeting,
    lacking,
    raise_what_ended,
)
from distlab.course.lab09_when_it_breaks.rounds import filled_up, promptly, until_met
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.raised import Advice
from distlab.rank.sharing import among_ranks

PATIENCE = 1.5  # seconds after the latest deadline for which answers are waited for
ABSENT = "did not call"
IN_TIME, LATE, EARLY, NEVER = "in time", "after its time was up", "before its time was up", "never"
LONG_AFTER = "after the last call"
LOST = "What several read, add to and write back loses what another has written meanwhile."


def _inputs(case: Case) -> list[dict]:
    return [case.params for _ in range(case.size)]


def _call(function, rank: int, size: int, inputs: dict[str, Any]) -> Any:
    """Rank 0 starts the workers and holds the roll calls; each rank reports for one worker."""

    def conduct() -> list[dict] | None:
        if rank:
            return None
        return until_met(lambda factor: _held(function, size, inputs, factor))

    found = among_ranks("roll calls", rank, size, conduct)[0]
    return _as_judged(found, rank)


def _as_judged(found: list[dict] | None, worker: int) -> Any:
    """What a worker's calls returned and when; raises what ended one of them."""
    if found is None:
        return "nothing"
    raise_what_ended(found[worker])
    return found[worker]


def _held(function, size: int, inputs: dict, factor: float) -> tuple[list[dict], bool, float]:
    """Hold the roll calls of a case in turn, with all times multiplied by `factor`. A roll call has
    as many ranks as moments; those beyond `size` have no worker, and call in none.

    Returns what each worker got and when, whether all was as asked, and the lag of this process.
    """
    seconds = inputs["seconds"] * factor
    names = inputs.get("names", [_name(number) for number in range(len(inputs["calls"]))])
    found: list[dict] = [{"returned": [], "moment of the return": []} for _ in range(size)]
    met, lag = True, 0.0
    slowness = inputs.get("slowness", stores.SLOWNESS)
    with Meeting(function, size, inputs["store"], slowness=slowness) as meeting:
        for number, moments in enumerate(inputs["calls"]):
            name = names[number]
            calls = [
                None if at is None else Call(at * factor, (name, rank, len(moments), seconds))
                for rank, at in enumerate(moments[:size])
            ]
            latest = max(call.at for call in calls if call) + seconds
            answers = meeting.hold(calls, latest + PATIENCE * factor)
            answers += [None] * (len(moments) - size)
            lag = max(lag, meeting.lag)
            if inputs["store"] in stores.SLOWED and lacking(answers):
                break
            for rank in range(size):
                met &= _judge(rank, answers, moments, inputs["seconds"], seconds, lag, found[rank])
            if not met:
                break
    for rank, one in enumerate(found):
        lists = [_planned(moments, rank, inputs["seconds"]) for moments in inputs["calls"]]
        filled_up(one["returned"], lists)
        filled_up(one["moment of the return"], [t if t == ABSENT else IN_TIME for t in lists])
    return found, met, lag


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


def _judge(
    rank: int,
    answers: list[Answer | None],
    moments,
    planned: float,
    seconds: float,
    lag: float,
    found: dict[str, Any],
) -> bool:
    """Add to `found` what a rank returned and when; were both as asked?"""
    answer = answers[rank]
    if answer is None:
        found["returned"].append(ABSENT)
        found["moment of the return"].append(ABSENT)
        return True
    if answer.error or answer.died:
        found.update(error=answer.error, died=answer.died)
        return False
    if answer.returned is None:
        found["returned"].append("nothing")
        found["moment of the return"].append(NEVER)
        return False
    margin = max(0.1, 0.2 * seconds) + 3 * lag
    right = _may_be(answer.value, rank, answers, seconds, margin)
    intended = _planned(moments, rank, planned)
    shown = repr(answer.value)[:80]
    if not right and shown == intended:  # right only if all ranks had called as planned
        shown += ", by when that was no longer so"
    found["returned"].append(intended if right else shown)
    moment = _moment(answer, answers, seconds, margin, lag)
    longer = "" if moment == IN_TIME or seconds == planned else f", tried again with {seconds:g} s"
    found["moment of the return"].append(moment + longer)
    return right and moment == IN_TIME


def _may_be(value: Any, rank: int, answers: list, seconds: float, margin: float) -> bool:
    """Can this be the list of those that had not called by the end of a rank's time?"""
    own = answers[rank]
    if not isinstance(value, (list, tuple)) or any(type(item) is not int for item in value):
        return False
    others = set(range(len(answers))) - {rank}
    if list(value) != sorted(set(value)) or not set(value) <= others:
        return False
    deadline = own.called + seconds
    for other, answer in enumerate(answers):
        called = answer.called if answer else math.inf
        if other == rank:
            continue
        if called <= deadline - margin and other in value:
            return False
        if called > min(deadline + margin, own.returned) and other not in value:
            return False
    return True


def _moment(own: Answer, answers: list, seconds: float, margin: float, lag: float) -> str:
    deadline = own.called + seconds
    if own.value in ([], ()):
        last = max((a.called for a in answers if a), default=own.called)
        late = own.returned - max(last, own.called)
        return IN_TIME if promptly(late, lag) else f"{late:.1f} s {LONG_AFTER}"
    if own.returned < deadline - margin:
        return f"{deadline - own.returned:.1f} s {EARLY}"
    late = own.returned - deadline
    return IN_TIME if promptly(late, lag, 0.4 * seconds) else f"{late:.1f} s {LATE}"


# what hints ask


def _moments(look: Look) -> list[str]:
    return [one for got in look.got for one in got["moment of the return"]]


def _differing(look: Look):
    """(rank, number of the roll call, what was returned, what should have been), where wrong."""
    for rank, (want, got) in enumerate(zip(look.expected, look.got, strict=True)):
        pairs = zip(want["returned"], got["returned"], strict=False)
        for number, (right, returned) in enumerate(pairs):
            if right != returned:
                yield rank, number, returned, right


def _list(text: str) -> set[int] | None:
    """The ranks on a list of ints, from its text."""
    import ast

    try:
        value = ast.literal_eval(notebook.parse(text, mode="eval"))
    except (ValueError, SyntaxError):
        return None
    if isinstance(value, list) and all(type(item) is int for item in value):
        return set(value)
    return None


def _some(look: Look, test) -> bool:
    """Does `test(rank, number, ranks listed, ranks that should be)` hold for some wrong list?"""
    return any(
        test(rank, number, listed, _list(right))
        for rank, number, returned, right in _differing(look)
        if (listed := _list(returned)) is not None
    )


def _in_earlier(look: Look, rank: int, number: int, listed: set, right: set) -> bool:
    """Is a rank taken for present that had called only in an earlier roll call, or in none?"""
    calls = look.case.params["calls"]
    return number > 0 and any(
        calls[number][other] is None
        and (other >= look.size or any(c[other] is not None for c in calls[:number]))
        for other in right - listed
    )


def _stayed(look: Look) -> bool:
    """Did a rank return late that was right in that all had called?"""
    return any(
        LONG_AFTER in moment and returned == right
        for want, got in zip(look.expected, look.got, strict=True)
        for right, returned, moment in zip(
            want["returned"], got["returned"], got["moment of the return"], strict=True
        )
    )


def _had_given_up(look: Look, rank: int, number: int, listed: set, right: set) -> bool:
    """Is a rank on the list whose time was up before this one called?"""
    calls, seconds = look.case.params["calls"][number], look.case.params["seconds"]
    return any(
        other != rank and calls[other] is not None and calls[other] + seconds < calls[rank]
        for other in listed - right
    )


def _had_called(look: Look, rank: int, number: int, listed: set, right: set) -> bool:
    calls = look.case.params["calls"][number]
    return any(other != rank and calls[other] is not None for other in listed - right)


def _only_behind_absent(look: Look) -> bool:
    """Is it right up to the first absent rank of each list, and too long only behind that?"""
    wrong = [(_list(returned), _list(right)) for _, _, returned, right in _differing(look)]
    return bool(wrong) and all(
        listed and right and right < listed and min(right) < min(listed - right)
        for listed, right in wrong
    )


exercise = Exercise(
    points=3,
    make=_inputs,
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
            "never returned", lambda look: NEVER in _moments(look),
            "A call of yours never came back. A loop that waits for all ranks needs an end for the "
            "case that one never comes: `seconds` after the call. store.get waits for five "
            "minutes, store.wait as long as it is told, and some stores take a time of 0 (or "
            "under a millisecond) for \"forever\": when nothing is left of the time, only look, "
            "with store.check.",
        ),
        Hint(
            "no list of ints",
            lambda look: any(_list(returned) is None for _, _, returned, _ in _differing(look)),
            "Return a list of plain ints, an empty one when all have called.",
        ),
        Hint(
            "an earlier roll call counts",
            lambda look: _some(look, lambda *found: _in_earlier(look, *found)),
            "A rank was taken for present that had not called in this roll call. Keys stay in a "
            "store: is the name part of every one, and does something stand between name and rank? "
            "(\"step 1\" followed by rank 10 reads like \"step 11\" followed by rank 0.) And is "
            "every rank looked for, rank 0 too?",
        ),
        Hint(
            "time for each rank",
            lambda look: look.size > 2 and any(LATE in one for one in _moments(look)),
            "`seconds` is for all ranks together, from the call on. When the first absent rank has "
            "used it up, nothing is left for the next: work out a deadline once, and wait for what "
            "is left of it.",
        ),
        Hint(
            "waited longer", lambda look: any(LATE in one for one in _moments(look)),
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
            "itself", lambda look: _some(look, lambda rank, number, listed, right: rank in listed),
            "A rank stands on its own list. Whoever calls is there: enter yourself first, then "
            "look for the others. (If these are the ranks that had called: asked for are those "
            f"that had not.) {LOST}",
        ),
        Hint(
            "had called before",
            lambda look: _some(look, lambda *found: _had_given_up(look, *found)),
            "A rank is on the list of a later caller although it had called, and given up, before. "
            "It had called: leave its key where it is.",
        ),
        Hint(
            "did not wait", lambda look: any(EARLY in one for one in _moments(look)),
            "A rank returned with ranks on its list before its time was up: they might still have "
            "come. (`seconds` need not be a whole number: round makes 0 of less than a half, and "
            "int of less than 1.)",
        ),
        Hint(
            "no note left", lambda look: _some(look, lambda *found: _had_called(look, *found)),
            "A rank is on the list that had called in time. Each has to leave its own note, before "
            f"it looks for those of the others, and the note has to stay when it returns. {LOST}",
        ),
        Hint(
            "not sorted",
            lambda look: _some(look, lambda rank, number, listed, right: listed == right),
            "These are the right ranks in another order, or some of them twice: return a sorted "
            "list.",
        ),
        Hint(
            "present ranks", lambda look: _some(
                look, lambda rank, number, listed, right: bool(listed) and not listed & right
            ),
            "The list names ranks that had called: asked for are those that had not.",
        ),
        Hint(
            "not all", lambda look: _some(
                look, lambda rank, number, listed, right: listed < right
            ),
            "Not all are on the list that had not called. When the time is up, look at each of "
            "the others, behind the first absent one too.",
        ),
    ),
)  # fmt: skip
