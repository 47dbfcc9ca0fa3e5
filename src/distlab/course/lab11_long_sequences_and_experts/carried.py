"""Rules and hints on the traffic of lab 11: which collectives, how often, carrying how much.

An all-to-all, in whichever form it was called, is recorded with all elements that its rank passed
in, including those that stay on the rank.
"""

from __future__ import annotations

from collections import Counter

from distlab.exercises import traffic
from distlab.exercises.compare import counted
from distlab.exercises.exercise import Hint, Look, Rule
from distlab.records.events import Event, RankRecord

_NAMES = {
    "all_to_all": "all-to-all",
    "all_gather": "all-gather",
    "reduce_scatter": "reduce-scatter",
    "all_reduce": "all-reduce",
}


def called(record: RankRecord) -> Counter[str]:
    """How often a rank called each collective, barriers left out."""
    return Counter(e.op for e in record.events if e.is_collective and e.op != "barrier")


def exactly(**times: int) -> Rule:
    """Each rank calls these collectives exactly that often, and communicates in no other way.

    A single rank may leave them out.
    """
    wanted = " and ".join(f"{n} {_NAMES[op]}" for op, n in times.items())

    def rule(look: Look) -> str | None:
        for record in look.records:
            if said := _message(record):
                return f"{said}; asked for is {wanted} on each rank."
            found = called(record)
            if found == Counter(times) or (look.size == 1 and found <= Counter(times)):
                continue
            return f"rank {record.rank} called {_told(found)}; asked for is {wanted} on each rank."
        return None

    return rule


def _message(record: RankRecord) -> str:
    for event in record.events:
        if event.is_message:
            return f"rank {record.rank} called {event} at {event.place}"
    return ""


def _told(found: Counter[str]) -> str:
    if not found:
        return "no collective"
    return ", ".join(f"{op} {counted(n, 'time')}" for op, n in sorted(found.items()))


def all_to_alls_alone(look: Look) -> str | None:
    """Nothing but all-to-alls: no message, no other collective, no barrier."""
    for record in look.records:
        if said := _message(record):
            return f"{said}: this exercise asks for all-to-alls alone."
        for event in record.events:
            if event.is_collective and event.op != "all_to_all":
                return f"{traffic.called(event)}: this exercise asks for all-to-alls alone."
    return None


def all_to_alls(look: Look, rank: int) -> list[Event]:
    return [e for e in look.records[rank].events if e.op == "all_to_all"]


def other_ops(look: Look, *allowed: str) -> bool:
    """Did a rank call any collective but these? (A barrier is one.)"""
    return any(e.is_collective and e.op not in allowed for e in look.events())


def messages(says: str) -> Hint:
    return Hint("messages", lambda look: bool(look.events("send", "recv")), says)


def gathered(says: str) -> Hint:
    """An all-gather, or an all-reduce or broadcasts in its place."""
    ops = ("all_gather", "broadcast", "all_reduce", "reduce")
    return Hint("gathered", lambda look: bool(look.events(*ops)), says)


ONE_ROOT = Hint(
    "one root at a time",
    lambda look: bool(look.events("scatter", "gather")),
    "A scatter and a gather have one root, and the other ranks wait for it. Called once for each "
    "rank they move what one all-to-all does, in which every rank deals out and collects at the "
    "same time. (With gloo, all_to_all of torch.distributed.nn is made of scatters.)",
)
SOMETHING_ELSE = Hint(
    "something besides all-to-alls",
    lambda look: other_ops(look, "all_to_all"),
    "Nothing but all-to-alls is needed, a barrier neither: an all-to-all waits by itself.",
)
