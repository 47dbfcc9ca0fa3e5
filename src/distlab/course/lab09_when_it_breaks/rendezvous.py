"""Lab 09, `rendezvous`: workers that did not know of each other agree who they are.

A worker that called well before the end is in, one that called well after it is out, and one that
called close to it may be either. But all have to agree on one membership: as many ranks as members,
in the order of the names. On a slow store that is all that is asked, because there every moment is
close to the end.
"""

from __future__ import annotations

import re
from typing import Any

from distlab.course.lab09_when_it_breaks import meeting as stores
from distlab.course.lab09_when_it_breaks import rounds
from distlab.course.lab09_when_it_breaks.meeting import Answer, Call, Meeting
from distlab.course.lab09_when_it_breaks.rounds import ABSENT, IN_TIME, MOMENT, NEVER, came
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.raised import Advice

PATIENCE = 1.5  # seconds after the latest moment at which somebody should have returned
SLOW_PATIENCE = 10.0  # the same on a slow store
ENTERING = 10  # operations within which a worker has registered itself, on a slow store
EARLY, LATE, LATECOMER = "before the end", "after the end", "after its call"
EITHER = "as all others see it"
AT_THE_BEGINNING = "at the beginning"  # a crowd that comes while the first worker begins


def _inputs(case: Case) -> list[dict]:
    given = {name: case.params[name] for name in ("store", "seconds")}
    given |= {"slowness": case.get("slowness", stores.SLOWNESS)}
    given |= {"nodes": _nodes(case), "rounds": _rounds(case), "clocks": case.get("clocks", "one")}
    return [given] * case.size


def _nodes(case: Case) -> list[str]:
    many = case.get("workers", 0)
    return case.get("nodes", [f"node {number:02}" for number in range(many, 0, -1)])


def _rounds(case: Case) -> list:
    """[generation, when each node calls] for each rendezvous. By default there is one, in which the
    workers come all at its beginning, or one after the other from shortly before its end until long
    after it.
    """
    begin, apart = case.params["seconds"] - 0.1, 0.12
    if case.get("crowd") == AT_THE_BEGINNING:
        begin, apart = 0.02, 0.03
    following = range(case.get("workers", 1) - 1)
    moments = [0.0, *(round(begin + apart * n, 2) for n in following)]
    return case.get("rounds", [[case.seed, moments]])


def _call(function, rank: int, size: int, inputs: dict[str, Any]) -> Any:
    """Rank 0 starts the workers and has them meet. With as many ranks as workers, each rank reports
    what one of them got; a single rank reports for all.
    """
    nodes = inputs["nodes"]
    mine = range(len(nodes)) if size == 1 else [rank]
    found = rounds.held_by_rank_0(rank, size, lambda factor: _held(function, inputs, factor), mine)
    if found is None:
        return "nothing"
    return {
        "membership": {nodes[w]: told["returned"] for w, told in zip(mine, found, strict=True)},
        MOMENT: [told[MOMENT] for told in found],
    }


def _held(function, inputs: dict, factor: float) -> rounds.Held:
    """Hold the rendezvous of a case in turn, with all times multiplied by `factor`."""
    nodes, seconds = inputs["nodes"], inputs["seconds"] * factor
    slow, slowness = inputs["store"] in stores.SLOWED, inputs["slowness"]
    turns = []
    for generation, moments in inputs["rounds"]:
        calls = [
            None if at is None else Call(at * factor, (generation, node, seconds))
            for node, at in zip(nodes, moments, strict=True)
        ]
        latest = max(seconds, *(call.at for call in calls if call))
        patience = latest + (SLOW_PATIENCE if slow else PATIENCE * factor)
        planned = _planned(nodes, moments, inputs["seconds"], slow)
        turns.append(rounds.Round(calls, patience, planned))
    # seconds before the end from which on a call is close to it, on a slow store
    near = ENTERING * slowness if slow else 0.0

    def judge(number: int, worker: int, answers: list[Answer | None], lag: float):
        answer, margin = answers[worker], max(0.15, 0.2 * seconds) + 3 * lag
        members = [w for w, a in enumerate(answers) if a and _pair(a.value)]
        place = _places(nodes, members).get(worker)
        end = min(a.called for a in answers if a) + seconds
        right = _may_be(answer, place, end, margin, near)
        return right, IN_TIME if slow else _moment(answer, end, margin, lag)

    clocks_differ = inputs["clocks"] != "one"
    with Meeting(function, len(nodes), inputs["store"], clocks_differ, slowness) as meeting:
        found, met, lag = rounds.held_in_turn(meeting, turns, judge, ", which others see otherwise")
    return found, met or slow, lag  # a slow store's is not repeated: load makes no members disagree


def _planned(nodes: list[str], moments: list, seconds: float, slow: bool) -> list[str]:
    """What each worker should get: its membership, `None`, or either if it comes at the end."""
    first = min(at for at in moments if at is not None)
    told = [ABSENT if at is None else EITHER for at in moments]
    if slow:
        return told
    near = 0.25 * seconds
    for worker, at in enumerate(moments):
        if at is not None and at > first + seconds + near:
            told[worker] = "None"
    if any(at is not None and abs(at - first - seconds) <= near for at in moments):
        return told  # the number of members is open, and so is the size that each is told
    members = [w for w, one in enumerate(told) if one == EITHER]
    for worker, place in _places(nodes, members).items():
        told[worker] = str(place)
    return told


def _places(nodes: list[str], members: list[int]) -> dict[int, tuple[int, int]]:
    ordered = sorted(members, key=nodes.__getitem__)
    return {worker: (rank, len(ordered)) for rank, worker in enumerate(ordered)}


def _pair(value: Any) -> bool:
    return (
        isinstance(value, (tuple, list))
        and len(value) == 2
        and all(type(item) is int for item in value)
    )


def _may_be(answer: Answer, place: tuple[int, int] | None, end, margin, near: float) -> bool:
    """Is this a right answer for a worker, given who all the members are?"""
    if place is None:
        return answer.value is None and answer.called >= end - margin - near
    return tuple(answer.value) == place and (near > 0 or answer.called <= end + margin)


def _moment(answer: Answer, end: float, margin: float, lag: float) -> str:
    if answer.value is None:
        return rounds.moment(answer.returned - max(answer.called, end - margin), lag, LATECOMER)
    if answer.returned < end - margin:
        return f"{end - answer.returned:.1f} s {EARLY}"
    return rounds.moment(answer.returned - max(answer.called, end), lag, LATE)


# what hints ask

_PAIR = re.compile(r"[(\[](\d+), (\d+)[)\]]")


def _by_round(outputs: list[dict]) -> list[tuple[str, ...]]:
    """For each rendezvous what all workers got, and when."""
    told: list[list[str]] = []
    for output in outputs:
        told += [output["membership"][node] for node in sorted(output["membership"])]
        told += output[MOMENT]
    return list(zip(*told, strict=True))


def _which(look: Look) -> int:
    """The number of the rendezvous that went wrong."""
    pairs = zip(_by_round(look.expected), _by_round(look.got), strict=True)
    return [want == got for want, got in pairs].index(False)


def _last(look: Look) -> dict[str, str]:
    """What each worker got in the last rendezvous that was held: the one that went wrong."""
    number = _which(look)
    return {node: told[number] for got in look.got for node, told in got["membership"].items()}


def _called(look: Look) -> dict[str, float]:
    """When each worker was to call in that one."""
    return dict(zip(_nodes(look.case), _rounds(look.case)[_which(look)][1], strict=True))


def _pairs(look: Look) -> dict[str, tuple[int, int]]:
    found = {node: _PAIR.match(told) for node, told in _last(look).items()}
    return {node: (int(m[1]), int(m[2])) for node, m in found.items() if m}


def _by_arrival(look: Look) -> bool:
    pairs = _pairs(look)
    first_to_last = sorted(pairs, key=_called(look).__getitem__)
    return len(pairs) > 1 and [pairs[node][0] for node in first_to_last] == [*range(len(pairs))]


def _permuted(look: Look) -> bool:
    pairs = _pairs(look)
    if EITHER in _last(look).values():
        return False
    ranks = sorted(rank for rank, _ in pairs.values())
    return ranks == list(range(len(pairs))) and {s for _, s in pairs.values()} == {len(pairs)}


def _divided(look: Look) -> bool:
    """Do members disagree on the size, or is it not the number of members?"""
    pairs = _pairs(look)
    fits = {size for _, size in pairs.values()} == {len(pairs)}
    return bool(pairs) and (not fits or EITHER in _last(look).values())


def _some_gave_up(look: Look) -> bool:
    """Do members agree on a size in which workers are counted that have None?"""
    pairs = _pairs(look)
    sizes, ranks = {size for _, size in pairs.values()}, {rank for rank, _ in pairs.values()}
    missed = len(_missed(look))
    return missed > 0 and len(ranks) == len(pairs) > 1 and sizes == {len(pairs) + missed}


def _reversed(look: Look) -> bool:
    """Did every member get (size, rank)?"""
    pairs = _pairs(look).values()
    size = len(pairs)
    return size > 1 and sorted(pairs) == [(size, rank) for rank in range(size)]


def _missed(look: Look) -> list[str]:
    """The workers that must be members and have None."""
    called = _called(look)
    end = min(at for at in called.values() if at is not None) + look.case.params["seconds"] / 2
    return [node for node, told in _last(look).items() if told == "None" and called[node] < end]


exercise = Exercise(
    points=5,
    make=_inputs,
    call=_call,
    forks=True,
    group=False,
    deadline=90.0,  # most of it is waiting, and what fails is repeated with longer times
    asks="rendezvous returns (rank, size) to every worker that called before the end, `seconds` "
    "after the first call, the ranks in the order of the names; None to one that calls later; and "
    "all members agree, however close to the end one of them came.",
    visible=(
        Case(3, 1, {"store": stores.HASH, "seconds": 1.2, "nodes": ["node-b", "node-a", "node-c"],
                    "rounds": [[0, [0.0, 0.8, 0.1]]]}),
        Case(3, 2, {"store": stores.TCP, "seconds": 0.6, "nodes": ["n10", "n9", "N1"],
                    "rounds": [[3, [0.0, 0.2, 1.3]], [4, [None, 0.1, 0.0]]]}),
        Case(3, 3, {"store": stores.PREFIXED_TCP, "seconds": 0.5, "nodes": ["x", "z", "y"],
                    "clocks": "differ", "rounds": [[0, [0.1, 0.0, 0.2]]]}),
        Case(1, 4, {"store": stores.SLOW_OTHERS, "seconds": 0.6, "workers": 21,
                    "crowd": "at the end"}),
    ),
    advice=(
        Advice(
            "bytes", "not supported between instances of 'bytes'|bytes-like|must be str, not bytes|"
            r'can only concatenate str \(not "bytes"\)',
            "What a store gives back is bytes, and a name is a text: decode() makes one of the "
            "other.",
        ),
        Advice(
            "not on the list", "is not in list",
            "A worker is looked for on a list on which it is not. One that comes when it is over "
            "is on none, and returns None. (Or the list holds no names yet: what a store gives "
            "back is bytes, and a name is a text. decode() makes one of the other.)",
        ),
        Advice(
            "add to a text", stores.ADDED_TO_A_TEXT,
            "A store that is asked to add to a key that holds a text breaks off (a TCPStore by "
            "closing the connection). Is one key used for both? Keys of two generations can be the "
            "same text, too: 1, followed by a worker's number 1, reads like 11, which is a "
            "generation of its own. Put something between them. And a worker may have any name, "
            "also one that you use for a key.",
        ),
    ),
    hints=(
        Hint(
            "clocks",
            lambda look: look.case.get("clocks") == "differ"
            and not _which(look) and not _permuted(look),
            "Here each worker's clock shows another time, as on several machines. A moment that "
            "one worker writes down means nothing to another: let one of them measure, and let a "
            "key tell the others that the time is over.",
        ),
        Hint(
            "two doorkeepers",
            lambda look: look.case.get("crowd") == AT_THE_BEGINNING and came(NEVER)(look),
            "Here a second worker comes while the first one begins, and somebody never came back. "
            "Who looks whether somebody has been there, and then puts up a sign, is not alone in "
            "that: both believe that they are the first, and both close the door. Let one "
            "operation do both: `add` gives no two callers the same number.",
        ),
        Hint(
            "an earlier generation counts", lambda look: _which(look) > 0,
            "The first rendezvous was right, the next one on the same store was not. Keys stay in "
            "a store: the generation has to be part of every one, and no key may be that "
            "of another generation. (0 is a generation too: `generation or 1` takes it for 1. And "
            "1, followed by a worker's number 1, reads like 11.)",
        ),
        Hint(
            "never returned", came(NEVER),
            "A worker never came back: it waits for a key that nobody sets any more. Who comes "
            "while the others close the door has to be counted in, or to see that it is shut.",
        ),
        Hint(
            "None to everybody",
            lambda look: all(told in ("None", ABSENT) for told in _last(look).values()),
            "Every worker got None, and that is for those who come late. Is there a `return` at "
            "the end of the function, and not only inside an `if`?",
        ),
        Hint(
            "each by its own time", came(LATE),
            "Members returned long after the end. The time counts from the first call, not from a "
            "worker's own.",
        ),
        Hint(
            "closed early", came(EARLY),
            "Members returned before the end: others may still come, `seconds` from the first call "
            "on.",
        ),
        Hint(
            "latecomer waits", came(LATECOMER),
            "A worker that came after the end was told so too late: it can see at once that it is "
            "over.",
        ),
        Hint(
            "pair the other way round", _reversed,
            "These are the right numbers the other way round: the rank comes first, then the size.",
        ),
        Hint(
            "one member alone", lambda look: len(_pairs(look)) == 1 and bool(_missed(look)),
            "One worker got a pair, and all others None, which is for those that come late. Is "
            "there a `return` on every way through the function, and not only inside an `if`?",
        ),
        Hint(
            "gave up waiting", _some_gave_up,
            "A worker got None that the others count among the members. Has it stopped waiting? "
            "The one that closes the door needs time for that on a slow store, so that others hear "
            "of it later than `seconds` after their own call. Nobody dies: wait for it.",
        ),
        Hint(
            "members disagree", _divided,
            "The sizes that the workers were told do not fit together. Between the moment at which "
            "a worker looks whether it is over and the one at which it enters itself, another can "
            "close the door. One operation of the store has to do both: `add` gives no two callers "
            "the same number. (And a worker that is counted may not have written its name yet: "
            "wait for it.)",
        ),
        Hint(
            "by arrival", lambda look: _permuted(look) and _by_arrival(look),
            "The ranks are in the order in which the workers came. Asked for is that of their "
            "names, which does not change from one start to the next.",
        ),
        Hint(
            "another order", _permuted,
            "The ranks are a permutation of the right ones: they follow the names, compared as "
            "strings, so that n10 comes before n9, and N9 before n1.",
        ),
        Hint(
            "no pair", lambda look: any(
                told not in ("None", ABSENT, EITHER) and not _PAIR.match(told)
                for told in _last(look).values()
            ),
            "Return the tuple (rank, size) of two ints to a member, None to one that came late.",
        ),
    ),
)  # fmt: skip
