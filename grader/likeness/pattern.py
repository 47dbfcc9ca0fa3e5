"""What the ledger keeps of a run: who called what in which order, by rank.

Two answers with the same pattern made the same calls with the same partners, tags and sizes, and
waited for them in the same order, whatever their text. Times, lines and names are not in it. It
begins with a hash of all that; the words behind it are for people, and hold neither tags nor sizes,
which a student's code can choose by a hidden input.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from distlab.exercises.verdict import Verdict
from distlab.records.events import ANY_SOURCE, OPS, Event, RankRecord

MOST_EVENTS = 2_000  # of a rank, that are looked at
MOST_WORDS = 400  # characters
HASH = 16  # characters


def pattern(verdict: Verdict) -> str:
    """The pattern of the run that a verdict is on; empty where nothing was recorded."""
    run, case = verdict.run, verdict.case
    if run is None or case is None or not any(record.events for record in run.records):
        return ""
    ranks = [list(_calls(record)) for record in run.records]
    exact = repr([case.key, [[exact for exact, _ in calls] for calls in ranks]])
    words = "; ".join(
        f"rank {rank}: {', '.join(_counted(said for _, said in calls)) or 'nothing'}"
        for rank, calls in enumerate(ranks)
    )
    words = words if len(words) <= MOST_WORDS else f"{words[: MOST_WORDS - 1]}…"
    return f"{hashlib.sha256(exact.encode()).hexdigest()[:HASH]} {words}"


def _calls(record: RankRecord) -> Iterator[tuple[tuple[object, ...], str]]:
    """The calls and waits of a rank in the order in which it made them, exactly and in words."""
    events = record.events[:MOST_EVENTS]
    steps = [(event.begin, 0, number) for number, event in enumerate(events)]
    steps += [(e.wait_begin, 1, i) for i, e in enumerate(events) if e.waited and not e.blocking]
    for _, waits, number in sorted(steps):
        event = events[number]
        if waits:
            yield ("wait", number), f"wait for {_said(event)}"
        else:
            peer = "any" if event.flags & ANY_SOURCE else event.peer
            yield (
                (event.op, event.api, event.group, peer, event.tag, event.nbytes, event.dtype,
                 event.reduction, event.blocking),
                _said(event),
            )  # fmt: skip


def _said(event: Event) -> str:
    name = event.op if event.op in OPS else "call"
    if name == "send":
        return f"send to {event.peer}"
    if name == "recv":
        return "recv from any" if event.flags & ANY_SOURCE else f"recv from {event.peer}"
    return name


def _counted(said: Iterator[str]) -> Iterator[str]:
    """What comes several times in a row once, with its number."""
    last, count = "", 0
    for one in [*said, ""]:
        if one == last:
            count += 1
            continue
        if last:
            yield last if count == 1 else f"{count}× {last}"
        last, count = one, 1
