"""A run and what was found of it as plain data, for a program or an assistant to read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from distlab.records.events import DONE, FAILED, Event, RankRecord
from distlab.records.explain import Deadlock, Wait
from distlab.records.wording import call_text

FORMAT = 1
_STATES = {DONE: "ended", FAILED: "failed"}


def as_data(records: Sequence[RankRecord], verdict: Deadlock | None, said: str) -> dict[str, Any]:
    """What `json.dumps` takes. No values of tensors are in it, and no text but the program's lines.

    Args:
        said: the same in words for a person.

    Returns:
        `verdict` (kind, message, hint, ranks, the wait-for graph; `None` where nothing was proven),
        `said`, and for each rank its operations in the order of their begin: times in seconds since
        the first of all began, `None` where they are not known.
    """
    begins = (event.begin for record in records for event in record.events)
    first = min(filter(_known, begins), default=0.0)
    return {
        "format": FORMAT,
        "said": said,
        "verdict": None if verdict is None else {
            "kind": verdict.kind, "message": verdict.message, "hint": verdict.hint,
            "ranks": list(verdict.ranks), "waits": [_wait(one) for one in verdict.waits],
        },
        "ranks": [
            {"rank": record.rank, "calls_lost": record.dropped,
             "operations": [_operation(event, first) for event in record.events]}
            for record in records
        ],
    }  # fmt: skip


def _wait(one: Wait) -> dict[str, Any]:
    return {
        "rank": one.rank, "call": call_text(one.event), **_place(one.event),
        "needs": list(one.on_ranks), "why": one.reason,
    }  # fmt: skip


def _operation(event: Event, first: float) -> dict[str, Any]:
    return {
        "operation": event.op, "call": call_text(event), **_place(event),
        "group": list(event.group), "peer": event.peer, "tag": event.tag, "dtype": event.dtype,
        "shape": list(event.shape), "bytes": event.nbytes,
        "state": _STATES.get(event.state, "waits"),
        **{name: round(at - first, 6) if _known(at) else None
           for name, at in (("begin", event.begin), ("end", event.end))},
    }  # fmt: skip


def _place(event: Event) -> dict[str, Any]:
    return {"function": event.function, "file": event.file, "line": event.line}


def _known(at: float) -> bool:
    return math.isfinite(at) and at > 0
