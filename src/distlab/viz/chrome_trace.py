"""A run as a Chrome trace, to open in https://ui.perfetto.dev or chrome://tracing.

The format is Google's "Trace Event Format"; PyTorch's profiler and Horovod's timeline write it too.
Every rank is a process. Its first thread shows what the rank sat in; non-blocking operations run on
further threads beside it, since slices of one thread must nest.
"""

from __future__ import annotations

import functools
import heapq
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from distlab.records.events import NOT_STARTED, RAISED, RETURNED, RUNNING, Event, RankRecord
from distlab.records.pairing import Pairs, pair
from distlab.records.wording import call_text, name_of, payload_text, summary
from distlab.viz.layout import closing, ending, extent
from distlab.viz.picture import target

_PROGRESS = {NOT_STARTED: "never started", RUNNING: "did not end", RETURNED: "returned",
             RAISED: "raised"}  # fmt: skip
_EPSILON = 1e-9  # seconds; trace times are µs with three decimals


def chrome_trace(records: Sequence[RankRecord]) -> dict[str, Any]:
    """The trace of a run as the object that its JSON holds. Times are µs since the run's begin."""
    pairs = pair(records)
    start, horizon = extent(records)
    trace = _Trace(start, horizon)
    for record in records:
        trace.add_rank(record)
    trace.add_messages(pairs)
    trace.events.sort(key=lambda e: (e["ph"] != "M", e.get("ts", 0), -e.get("dur", 0)))
    return {
        "traceEvents": trace.events,
        "displayTimeUnit": "ms",
        "otherData": {"made by": "distlab", "summary": summary(records, pairs)},
    }


def write(records: Sequence[RankRecord], path: str | Path) -> Path:
    """Write the trace of a run to `path`, a .json file.

    Raises:
        FileNotFoundError: the folder is not there.
    """
    path = target(path)
    path.write_text(json.dumps(chrome_trace(records), ensure_ascii=False), encoding="utf-8")
    return path


class _Trace:
    """Trace events in the making."""

    def __init__(self, start: float, horizon: float) -> None:
        self.start, self.horizon = start, horizon
        self.events: list[dict[str, Any]] = []
        self._thread: dict[tuple[int, int], int] = {}  # (rank, index) -> the thread of its slice

    def _us(self, time: float) -> float:
        return round(max(0.0, time - self.start) * 1e6, 3)

    def add_rank(self, record: RankRecord) -> None:
        rank = record.rank
        name = f"rank {rank} ({_PROGRESS.get(record.progress, 'unknown')})"
        self._meta("process_name", rank, 0, name=name)
        self._meta("process_sort_index", rank, 0, sort_index=rank)
        self._meta("thread_name", rank, 0, name="what the rank does")
        if record.begin:
            self._slice(rank, 0, "the rank's function", "rank", record.begin,
                        closing(record, self.horizon), {})  # fmt: skip
        end_of = functools.partial(ending, horizon=closing(record, self.horizon))
        beside = [one for one in record.events if not (one.blocking or one.op == "new_group")]
        lanes = _lanes([(one.begin, end_of(one)) for one in beside])
        threads = {one.index: lane + 1 for one, lane in zip(beside, lanes, strict=True)}
        for event in record.events:
            end, thread = end_of(event), threads.get(event.index, 0)
            if thread and event.wait_begin:
                name, until = f"wait {call_text(event)}", event.wait_end or end
                self._slice(rank, 0, name, "wait", event.wait_begin, until, _args(event))
            self._thread[rank, event.index] = thread
            category = "internal" if event.internal else "message" if event.is_message else event.op
            self._slice(rank, thread, _title(event), category, event.begin, end, _args(event))
        for number in range(max(lanes, default=-1) + 1):
            self._meta("thread_name", rank, number + 1, name=f"under way {number + 1}")

    def add_messages(self, pairs: Pairs) -> None:
        """An arrow for each message that arrived, from its send's slice to its receive's."""
        for number, (send, receive) in enumerate(pairs.messages):
            if send is None or receive is None or not receive.done:
                continue
            # strictly within the slices, or viewers would not find them
            arrival = max(receive.begin, receive.end - _EPSILON)
            for phase, event, time in (("s", send, send.begin), ("f", receive, arrival)):
                flow = {"name": "message", "cat": "message", "ph": phase, "id": number,
                        "pid": event.rank, "tid": self._thread[event.rank, event.index],
                        "ts": self._us(time)}  # fmt: skip
                self.events.append(flow | ({"bp": "e"} if phase == "f" else {}))

    def _slice(
        self,
        rank: int,
        thread: int,
        name: str,
        category: str,
        begin: float,
        end: float,
        args: dict[str, Any],
    ) -> None:
        ts = self._us(begin)
        dur = round(max(0.0, self._us(end) - ts), 3)
        self.events.append({"name": name, "cat": category, "ph": "X", "ts": ts, "dur": dur,
                            "pid": rank, "tid": thread, "args": args})  # fmt: skip

    def _meta(self, kind: str, rank: int, thread: int, **args: Any) -> None:
        self.events.append({"name": kind, "ph": "M", "pid": rank, "tid": thread, "args": args})


def _lanes(spans: Sequence[tuple[float, float]]) -> list[int]:
    """For each span the first of several lanes that is free when it begins."""
    found = [0] * len(spans)
    busy: list[tuple[float, int]] = []  # until when, and which lane
    free: list[int] = []
    for number in sorted(range(len(spans)), key=lambda number: spans[number]):
        begin, end = spans[number]
        while busy and busy[0][0] <= begin:
            heapq.heappush(free, heapq.heappop(busy)[1])
        found[number] = heapq.heappop(free) if free else len(busy)
        heapq.heappush(busy, (end, found[number]))
    return found


def _title(event: Event) -> str:
    return name_of(event) if event.is_collective else call_text(event)


def _args(event: Event) -> dict[str, Any]:
    args: dict[str, Any] = {"at": event.place, "call": call_text(event)}
    if carried := payload_text(event):
        args |= {"carries": carried, "bytes": event.nbytes, "dtype": event.dtype}
    if event.is_message and event.value == event.value:  # JSON has no NaN
        args["first element"] = event.value if abs(event.value) < float("inf") else str(event.value)
    if event.is_collective:
        args["group"] = list(event.group)
    if not event.done:
        args["ended"] = "failed" if event.end else "never finished"
    return args
