"""Whether a run has left anything on its ranks' connections, as far as their records tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from distlab.records.events import WORLD, RankRecord


def all_met(records: Sequence[RankRecord]) -> bool:
    """Has everything that these ranks began ended, and has everything in their default group met
    its match, as far as the records tell?
    """
    on_the_way: Counter[tuple[int, int, int]] = Counter()
    calls: list[list[str]] = []
    for record in records:
        if record.dropped or not record.over:
            return False
        called = []
        for event in record.events:
            if not event.done:
                return False
            if event.group_index != WORLD:
                continue
            if event.is_message:
                if event.peer is None:  # whom it met is not known
                    return False
                if event.op == "send":
                    on_the_way[record.rank, event.peer, event.tag] += 1
                else:
                    on_the_way[event.peer, record.rank, event.tag] -= 1
            else:
                called.append(event.op)
        calls.append(called)
    return not any(on_the_way.values()) and all(called == calls[0] for called in calls)
