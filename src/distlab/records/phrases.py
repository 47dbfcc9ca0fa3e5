"""Operations, groups and ranks as parts of a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from distlab.records.events import GIVEN_GROUPS, Event
from distlab.records.matching import Group, Ledger

_INSIDE = {"_wrapped_call_impl": "the model's forward pass", "__init__": "a constructor"}


def named(event: Event) -> str:
    """An operation as a student knows it; one that torch does by itself, by what it is part of."""
    if event.internal and event.is_named:
        return f"{event} inside {event.api}()"
    if event.internal and event.is_collective:
        return f"{event.op} inside {_INSIDE.get(event.api) or f'{event.api}()'}"
    tag = f" with tag {event.tag}" if event.tag and event.is_message else ""
    return f"{event}{tag}"


def clause(ledger: Ledger, event: Event, plain: bool = False) -> str:
    """ "rank 0 waits in recv(src=1) at exchange:4"."""
    called = event.blocking or event.internal or event.op == "new_group"
    inside = "waits in" if called else "waits for its"
    group = ledger.group_of(event)
    where = ""
    if event.op != "new_group" and group is not None and group[1] > 0:
        where = f" {of_group(ledger, group)}"
    what = str(event) if plain and not event.internal else named(event)
    return f"rank {event.rank} {inside} {what}{where} at {event.place}"


def of_group(ledger: Ledger, group: Group) -> str:
    members, number = group
    if number >= GIVEN_GROUPS:
        which = f"{ordinal(number - GIVEN_GROUPS + 1)} " if number > GIVEN_GROUPS else ""
        return f"in the {which}given group {list(members)}"
    if number <= 0:
        return "under this name" if number else "in the default group"
    which = f"{ordinal(number)} " if number > 1 or len(members) == ledger.size else ""
    return f"in the {which}group {list(members)}"


def listed(parts: Sequence[str], word: str = "and") -> str:
    *most, last = parts
    return f"{', '.join(most)} {word} {last}" if most else last


def ranks_text(ranks: Sequence[int], word: str = "and") -> str:
    """ "rank 3", "ranks 0 and 2", "ranks 0, 1 and 2"."""
    if not ranks:
        return "nobody"
    return f"rank{'s' * (len(ranks) > 1)} {listed([str(rank) for rank in ranks], word)}"


def ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10)
    return f"{number}{ending or 'th'}"
