"""A run as a Chrome trace, which ui.perfetto.dev and chrome://tracing open.

Format: "Trace Event Format", https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from distlab.matching import Ledger
from distlab.records import Event, RankRecord


def chrome_trace(records: Sequence[RankRecord]) -> dict[str, Any]:
    """The records as one JSON object: a process a rank, times in microseconds since the start."""
    times = [t for r in records for t in (r.begin, *(e.begin for e in r.events)) if t]
    start = min(times, default=0.0)
    last = max((t for r in records for t in (r.end, *(e.end for e in r.events)) if t), default=start)
    events: list[dict[str, Any]] = []
    for record in records:
        events.append({"ph": "M", "name": "process_name", "pid": record.rank, "tid": 0,
                       "args": {"name": f"rank {record.rank}"}})  # fmt: skip
        if record.begin:
            stop = record.end or last
            events.append(_slice("function", "rank", record.rank, 0, record.begin - start,
                                 stop - record.begin, {}))  # fmt: skip
        events += [_operation(event, start, last) for event in record.events]
    events += _flows(records, start)
    return {"traceEvents": events, "displayTimeUnit": "ms"}


def write(records: Sequence[RankRecord], path: str | Path) -> None:
    """Write the trace of a run to a file."""
    Path(path).write_text(json.dumps(chrome_trace(records)), "utf-8")


def _slice(name, category, pid, tid, begin, duration, args) -> dict[str, Any]:
    return {"ph": "X", "name": name, "cat": category, "pid": pid, "tid": tid,
            "ts": round(begin * 1e6, 3), "dur": round(max(duration, 0.0) * 1e6, 3),
            "args": args}  # fmt: skip


def _operation(event: Event, start: float, last: float) -> dict[str, Any]:
    args = {
        "place": event.place, "bytes": event.nbytes, "dtype": event.dtype,
        "shape": list(event.shape), "peer": event.peer, "tag": event.tag,
        "group": list(event.group), "ended": bool(event.end), "waited": event.waited,
    }  # fmt: skip
    tid = 1 if event.is_message else 2
    stop = event.end or last
    kind = "message" if event.is_message else "collective"
    return _slice(str(event), kind, event.rank, tid, event.begin - start, stop - event.begin, args)


def _flows(records: Sequence[RankRecord], start: float) -> list[dict[str, Any]]:
    ledger = Ledger(len(records))
    ledger.update(records)
    flows = []
    for number, (send, receive) in enumerate(ledger.pairs(), 1):
        if not receive.end:
            continue
        common = {"name": "message", "cat": "message", "id": number, "tid": 1}
        flows.append({**common, "ph": "s", "pid": send.rank, "ts": _us(send.begin - start)})
        flows.append({**common, "ph": "f", "bp": "e", "pid": receive.rank,
                      "ts": _us(max(receive.end, send.begin) - start)})  # fmt: skip
    return flows


def _us(seconds: float) -> float:
    return round(seconds * 1e6, 3)
