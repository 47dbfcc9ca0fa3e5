"""Rules on traffic that several exercises of lab 10 share.

Both names of an operation and all of its forms are recorded as one. With one rank, or with nothing
to carry, a stated collective may be left out.
"""

from __future__ import annotations

from distlab.exercises.exercise import Look
from distlab.exercises.traffic import called
from distlab.records.events import Event


def traffic_of(look: Look, rank: int, barriers: bool = False) -> list[Event]:
    """What a rank sent and received. Making a group is no traffic, and a barrier carries nothing.

    Args:
        barriers: count barriers all the same.
    """
    left_out = ("new_group",) if barriers else ("new_group", "barrier")
    return [event for event in look.records[rank].events if event.op not in left_out]


def stray(look: Look, *ops: str, instead: str, barriers: bool = False) -> str | None:
    """What is said of the first operation that is none of these over all ranks, if there is one."""
    for rank in look.ranks:
        for event in traffic_of(look, rank, barriers):
            if event.op not in ops:
                return f"{called(event)}{instead}"
            if set(event.group) != set(look.ranks):
                return f"{called(event)} in a group that does not hold all ranks."
    return None


def calls(look: Look, op: str) -> int:
    """How often rank 0 called this operation."""
    return sum(event.op == op for event in look.records[0].events)


def others(look: Look, *ops: str) -> bool:
    """Did a rank call any other operation than these, besides making groups?"""
    return any(event.op not in (*ops, "new_group") for event in look.events())
