"""The layout of a run on paper: what is drawn where, before it is drawn.

Ranks are rows and time runs to the right. What would be narrower than `TIGHT` pixels in a long run
is merged with its neighbours into one block: a picture stays small however long the run is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from operator import attrgetter
from typing import Any

import numpy as np

from distlab.records.events import BLOCKING, FAILED, RETURNED, RUNNING, Event, RankRecord
from distlab.records.pairing import Collective, Message, Pairs, either
from distlab.records.wording import call_text, collective_text
from distlab.viz.scale import Need, Scale, fit
from distlab.viz.svg import text_width

LEFT = 58.0  # pixels before the first moment: the ranks' names
TIGHT = 9.0  # pixels; narrower things are merged in a long run
BLOCK = 90.0  # pixels; a block is no wider
CROWD = 40  # events on a rank from which on things are merged
ARROWS = 90  # at most about so many arrows


@dataclass
class Span:
    """Something that takes time, or several of its kind merged: x0 … x1 in pixels."""

    x0: float
    x1: float
    items: list[Any]
    seconds: float = 0.0


@dataclass
class Arrow:
    """A message, or several between the same two ranks: from (x0, rank src) to (x1, rank dst)."""

    src: int
    dst: int
    x0: float
    x1: float
    pairs: list[Message]
    state: str = "done"  # "lost": no receive; "unsent": no send; "open": not finished; "wrong"


@dataclass
class Layout:
    """Where everything of a run goes, in pixels."""

    records: Sequence[RankRecord]
    pairs: Pairs
    width: float
    few: bool
    row: float
    bar: float
    scale: Scale
    start: float
    horizon: float
    right: float
    waits: list[list[Span]] = field(default_factory=list)
    bands: list[Span] = field(default_factory=list)
    arrows: list[Arrow] = field(default_factory=list)


def lay_out(records: Sequence[RankRecord], pairs: Pairs, width: float) -> Layout:
    """The layout of a run in a picture `width` pixels wide."""
    size = len(records)
    busiest = max((len(r.events) for r in records), default=0)
    few = busiest <= 6 and size <= 4
    row = 84.0 if size <= 2 else 62.0 if size <= 4 else 42.0 if size <= 8 else 28.0
    start, horizon = extent(records)
    ended = all(r.progress == RETURNED for r in records)
    right = width - (24.0 if ended else 84.0)
    stays = {r.rank: waiting_times(r, horizon) for r in records}
    busy = [(a, b) for own in stays.values() for a, b, _ in own]
    scale = scale_of(records, pairs, horizon, busy, LEFT + 8, right)
    crowded = busiest > CROWD
    bar = 14.0 if size <= 4 else 12.0 if size <= 8 else 9.0
    laid = Layout(records, pairs, width, few, row, bar, scale, start, horizon, right)
    for record in records:
        spans = [Span(scale(a), scale(b), [e], b - a) for a, b, e in stays[record.rank]]
        laid.waits.append(merged(spans, lambda e: e.done) if crowded else spans)
    ends = {r.rank: closing(r, horizon) for r in records}
    bands = [_band(call, scale, ends) for call in pairs.collectives]
    laid.bands = (
        merged(bands, lambda c: (c.members, c.first.internal, c.done)) if crowded else bands
    )
    laid.arrows = _arrows(pairs, scale, horizon)
    return laid


def scale_of(
    records: Sequence[RankRecord], pairs: Pairs, horizon: float,
    busy: Sequence[tuple[float, float]], left: float, right: float,
) -> Scale:  # fmt: skip
    """The scale on which a run can be read between these two pixels.

    Args:
        horizon: the run's last moment.
        busy: from when to when ranks sat in operations.
    """
    busiest = max((len(r.events) for r in records), default=0)
    few = busiest <= 6 and len(records) <= 4
    stretch = busiest <= 24 and sum(len(r.events) for r in records) <= 240
    return fit(
        _moments(records, horizon, busy),
        busy,
        _needs(records, pairs, horizon, few) if stretch else (),
        left,
        right,
        stretch,
    )


def extent(records: Sequence[RankRecord]) -> tuple[float, float]:
    """First and last moment of a run, in seconds; later than the last event if a rank hung."""
    times = np.fromiter(chain.from_iterable(_times(records)), "f8")
    times = times[times > 0]
    if not len(times):
        return 0.0, 0.0
    first, last = float(times.min()), float(times.max())
    if any(r.progress == RUNNING and not r.stopped for r in records):
        last += 0.12 * (last - first) + 1e-6
    return first, last


def closing(record: RankRecord, horizon: float) -> float:
    """When a rank's function was over: it ended, its process was killed, or the run was over."""
    return record.end or record.stopped or horizon


_TIMES = attrgetter("begin", "end", "wait_begin", "wait_end")
_BOUNDS = attrgetter("begin", "end")


def _times(records: Sequence[RankRecord]) -> Iterator[tuple[float, ...]]:
    for record in records:
        yield record.begin, record.end, record.stopped if not record.end else 0.0
        yield from map(_TIMES, record.events)


def _moments(
    records: Sequence[RankRecord], horizon: float, busy: Iterable[tuple[float, float]]
) -> list[float]:
    """The moments that the scale has to keep apart: when ranks and operations begin and end, and
    when ranks sat in operations.
    """
    own = ((record.begin, closing(record, horizon)) for record in records)
    events = (map(_BOUNDS, record.events) for record in records)
    every = chain((horizon,), *map(chain.from_iterable, (own, busy, chain.from_iterable(events))))
    times = np.unique(np.fromiter(every, "f8"))
    found: list[float] = times[times > 0].tolist()
    return found


def waiting_times(record: RankRecord, horizon: float) -> list[tuple[float, float, Event]]:
    """When a rank sat in an operation: from the call, or from the `wait` of a non-blocking one."""
    over = closing(record, horizon)
    found = [(*sat, event) for event in record.events if (sat := stay(event, over))]
    return sorted(found, key=lambda sat: sat[0])


def stay(event: Event, over: float) -> tuple[float, float] | None:
    """When a rank sat in an operation, as (from, until); `None` if it did not.

    Args:
        over: when the rank's function was over.
    """
    blocking = event.flags & BLOCKING  # asked a hundred thousand times of a long run
    if event.op == "new_group" or not (blocking or event.wait_begin):
        return None
    begin = event.begin if blocking else event.wait_begin
    end = event.wait_end or event.end
    if not end and not event.done:
        end = over
    return begin, (end if end > begin else begin)


def _needs(records: Sequence[RankRecord], pairs: Pairs, horizon: float, few: bool) -> list[Need]:
    """Which moments have to lie how many pixels apart for a reader to see what is between them."""
    needs: list[Need] = []
    for record in records:
        own = [e for e in record.events if e.is_message]
        for event, after in zip_longest(own, own[1:]):
            until = after.begin if after else closing(record, horizon)
            label = max(text_width(call_text(event), 10), text_width(event.place, 10)) + 8
            needs.append((event.begin, until, label if few else 7.0))
        needs += [(a, b, 5.0) for a, b, _ in waiting_times(record, horizon)]
        if record.events and record.begin:
            needs.append((record.begin, record.events[0].begin, 6.0))
    for send, receive in pairs.messages:
        if send and receive and receive.done:
            needs.append((send.begin, receive.end, 34.0 if few else 12.0))
        else:
            needs.append((either(send, receive).begin, horizon, 150.0))
    calls = pairs.collectives
    for call, after in zip_longest(calls, calls[1:]):
        if len(calls) <= 16:
            label = text_width(collective_text(call, len(records))) + 12
            needs.append((call.begin, after.begin if after else horizon, label))
        ends = [e.end for e in call.calls.values() if e.done]
        if ends:
            needs.append((call.begin, max(ends), 10.0))
    return needs


def _band(call: Collective, scale: Scale, ends: dict[int, float]) -> Span:
    end = max(ending(e, ends[e.rank]) for e in call.calls.values())
    return Span(scale(call.begin), scale(end), [call], end - call.begin)


def ending(event: Event, horizon: float) -> float:
    """When an operation was over; `horizon` if it never was."""
    if event.done or event.state == FAILED:
        return max(event.end or event.wait_end, event.begin)
    return horizon


def merged(spans: list[Span], kind: Callable[[Any], Any]) -> list[Span]:
    """Merge neighbours that are of the same kind and too narrow to see into one block."""
    result: list[Span] = []
    for span in sorted(spans, key=lambda s: s.x0):
        last = result[-1] if result else None
        if (
            last is not None
            and span.x1 - span.x0 < TIGHT
            and (len(last.items) > 1 or last.x1 - last.x0 < TIGHT)
            and span.x0 - last.x1 < 4
            and span.x1 - last.x0 < BLOCK
            and kind(last.items[0]) == kind(span.items[0])
        ):
            last.x1 = max(last.x1, span.x1)
            last.items += span.items
            last.seconds += span.seconds
        else:
            result.append(Span(span.x0, span.x1, list(span.items), span.seconds))
    return result


def _arrows(pairs: Pairs, scale: Scale, horizon: float) -> list[Arrow]:
    arrows = [_arrow(send, receive, pairs, scale, horizon) for send, receive in pairs.messages]
    arrows = [a for a in arrows if a.dst != a.src]
    bin_width = 6.0
    while len(arrows) > ARROWS and bin_width < 800:
        bins: dict[tuple[int, int, str, int], Arrow] = {}
        for arrow in arrows:
            key = arrow.src, arrow.dst, arrow.state, int(arrow.x0 / bin_width)
            if key not in bins:
                bins[key] = Arrow(
                    arrow.src, arrow.dst, arrow.x0, arrow.x1, list(arrow.pairs), arrow.state
                )
            else:
                bins[key].pairs += arrow.pairs
        arrows, bin_width = list(bins.values()), bin_width * 2
    for arrow in arrows:
        if len(arrow.pairs) > 1:  # where its messages are on average
            each = [_arrow(send, receive, pairs, scale, horizon) for send, receive in arrow.pairs]
            arrow.x0 = sum(a.x0 for a in each) / len(each)
            arrow.x1 = sum(a.x1 for a in each) / len(each)
            if arrow.dst < arrow.src:  # beside those that run downwards, not upon them
                arrow.x0, arrow.x1 = arrow.x0 + 6, arrow.x1 + 6
    return arrows


def _arrow(
    send: Event | None, receive: Event | None, pairs: Pairs, scale: Scale, horizon: float
) -> Arrow:
    both = [(send, receive)]
    if send is None:
        receive = either(send, receive)
        x1 = scale(ending(receive, horizon) if receive.done else receive.begin)
        src = receive.peer if receive.peer is not None else -1
        return Arrow(src, receive.rank, x1, x1, both, "unsent")
    x0 = scale(send.begin)
    if receive is None:
        # a send to nobody, which no rank makes, ends on its own row and so is not drawn
        dst = send.rank if send.peer is None else send.peer
        return Arrow(send.rank, dst, x0, x0, both, "lost")
    if not receive.done:
        return Arrow(send.rank, receive.rank, x0, max(x0, scale(receive.begin)), both, "open")
    wrong = (send.rank, send.index) in pairs.conflicts
    state = "wrong" if wrong else "done"
    return Arrow(send.rank, receive.rank, x0, scale(receive.end), both, state)
