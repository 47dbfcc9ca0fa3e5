"""Judge what depends on the clock without blaming an answer for a busy machine.

Answers are judged by the times at which workers really called and returned, with a margin. What
fails is repeated with all times longer, and only what fails again is wrong: an answer that is late
in itself stays late, one that the machine delayed does not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from distlab.course.lab09_when_it_breaks.meeting import (
    Answer,
    Call,
    Meeting,
    lacking,
    raise_what_ended,
)
from distlab.exercises.exercise import Look
from distlab.rank.sharing import among_ranks

Found = TypeVar("Found")
#: what each worker returned and when, in words; whether all was as asked; and by how many seconds
#: this process was late meanwhile
Held = tuple[list[dict[str, Any]], bool, float]

ABSENT, IN_TIME, NEVER = "did not call", "in time", "never"
#: under this name a harness returns when each worker's calls returned
MOMENT = "moment of the return"
LONGER = 2.5  # factor from one round to the next
BUSY = 0.1  # seconds: where this process itself was as late as that, a failed round proves nothing
MOST = 4  # rounds on a machine that stays busy
PROMISED = 0.5  # seconds within which the contracts have a worker return that need wait no longer
SLACK = 0.2  # seconds that scheduling may add to that


def until_met(hold: Callable[[float], tuple[Found, bool, float]]) -> Found:
    """What `hold` found at the first length at which all was as asked, or at the last.

    Args:
        hold: gets a factor for all times; returns what it found, whether that is as asked, and by
            how many seconds this process was late meanwhile.
    """
    factor = 1.0
    for number in range(1, MOST + 1):
        found, met, lag = hold(factor)
        if met or number >= 2 and lag < BUSY:
            break
        factor *= LONGER
    return found


@dataclass(frozen=True)
class Round:
    """What each worker calls in a round (`None`: nothing), and what it returns if all call when
    they are to, as a text; `ABSENT` where it makes no call.

    `patience`: seconds from the start after which answers are no longer waited for.
    """

    calls: list[Call | None]
    patience: float
    planned: list[str]


def held_in_turn(
    meeting: Meeting,
    rounds: list[Round],
    judge: Callable[[int, int, list[Answer | None], float], tuple[bool, str]],
    otherwise: str,
) -> Held:
    """Hold rounds until one is not as asked, or cannot be judged on a slow store. Those that are
    not held any more count as planned: the difference, and with it the message, is then about the
    call that went wrong.

    Args:
        judge: gets the numbers of a round and of a worker that returned, all answers, and the lag;
            returns whether the worker's value can be right, and `IN_TIME` or when it returned.
        otherwise: added to a value that is the planned one and yet wrong.
    """
    found: list[dict[str, Any]] = [{"returned": [], MOMENT: []} for _ in rounds[0].planned]
    met, lag = True, 0.0
    for number, one in enumerate(rounds):
        answers = meeting.hold(one.calls, one.patience)
        lag = max(lag, meeting.lag)
        if meeting.slow and lacking(answers):
            break
        for worker, (answer, planned) in enumerate(zip(answers, one.planned, strict=True)):
            if answer and (answer.error or answer.died):
                found[worker].update(error=answer.error, died=answer.died)
                met = False
                continue
            returned, when = ABSENT, ABSENT
            if answer and answer.returned is None:
                returned, when = "nothing", NEVER
            elif answer:
                right, when = judge(number, worker, answers, lag)
                shown = repr(answer.value)[:80]
                returned = planned if right else shown + otherwise * (shown == planned)
            found[worker]["returned"].append(returned)
            found[worker][MOMENT].append(when)
            met &= returned == planned and when in (IN_TIME, ABSENT)
        if not met:
            break
    for worker, told in enumerate(found):
        left = [one.planned[worker] for one in rounds[len(told["returned"]) :]]
        told["returned"] += left
        told[MOMENT] += [text if text == ABSENT else IN_TIME for text in left]
    return found, met, lag


def held_by_rank_0(
    rank: int, size: int, hold: Callable[[float], Held], workers: Sequence[int]
) -> list[dict[str, Any]] | None:
    """What these workers returned and when, for rank 0 holds the rounds and tells all ranks; `None`
    where it failed.

    Raises:
        Raised, Died: what ended the call of one of these workers.
    """
    found = among_ranks("rounds", rank, size, lambda: None if rank else until_met(hold))[0]
    if found is None:
        return None
    for worker in workers:
        raise_what_ended(found[worker])
    return [found[worker] for worker in workers]


def moment(late: float, lag: float, after: str, allowed: float = PROMISED) -> str:
    """When a worker returned that did so `late` seconds after it could have.

    Args:
        lag: by how many seconds this process itself was late meanwhile.
        after: what it could have returned after, in words.
    """
    return IN_TIME if late <= allowed + SLACK + 3 * lag else f"{late:.1f} s {after}"


def came(words: str) -> Callable[[Look], bool]:
    """A hint's `shows`: did some call return at a moment that is told in these words?"""
    return lambda look: words in str(look.left(MOMENT))
