"""Rules on traffic that several exercises of lab 10 share.

Both names of an operation and all of its forms are recorded as one. With one rank, or with nothing
to carry, a stated collective may be left out.
"""

from __future__ import annotations

from distlab.exercises.exercise import Look
from distlab.records.events import Event


def traffic_of(look: Look, rank: int, barriers: bool = False) -> list[Event]:
    """What a rank sent and received. Making a group is no traffic, and a barrier carries nothing.

    Args:
        barriers: count barriers all the same.
    """
    left_out = ("new_group",) if barriers else ("new_group", "barrier")
    return [event for event in look.records[rank].events if event.op not in left_out]


def over_all(look: Look, event: Event) -> bool:
    """Is it a collective over all ranks?"""
    return set(event.group) == set(look.ranks)
