"""A run as a space-time picture: ranks as rows, time to the right, messages as arrows.

Drawn straight from the records as SVG, in milliseconds, without matplotlib. Long stretches of time are
compressed, so that microseconds of communication stay visible beside seconds of computation; the axis
says the times. Colours are Okabe and Ito's, which colour-blind readers can tell apart; text and lines
take the colour of the page, so that the picture can be read on light and on dark.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from distlab import records
from distlab.matching import Ledger
from distlab.records import Event, RankRecord

MESSAGE, WAITING, COLLECTIVE, LIBRARY, BAD = "#1F83C8", "#56B4E9", "#009E73", "#CC79A7", "#D55E00"
LEFT, RIGHT, TOP = 64, 18, 30  # pixels around the drawing
FEW = 40  # up to so many events each one gets a label
MANY_ARROWS = 400  # beyond so many messages their arrows would hide everything
_LABEL = 5.6  # pixels of a label's character


@dataclass
class Timeline:
    """The picture of one run."""

    records: Sequence[RankRecord]
    title: str = ""
    width: int = 900

    def svg(self, standalone: bool = True) -> str:
        """The picture as SVG; `standalone` gives it text colours of its own for light and dark."""
        return _Drawing(self).svg(standalone)

    def text(self) -> str:
        """The same in words: a line for each message, collective and wait that did not end."""
        return "\n".join(_told(self.records)) or "nothing was sent or received"

    def save(self, path: str | Path) -> Path:
        """Write the SVG file."""
        path = Path(path)
        path.write_text(self.svg(), "utf-8")
        return path

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        return {"text/html": self._repr_html_(), "text/plain": self.text()}

    def _repr_html_(self) -> str:
        return f"<div style='overflow-x:auto;max-width:100%'>{self.svg(standalone=False)}</div>"

    def __repr__(self) -> str:
        return self.text()


def timeline(
    records: Sequence[RankRecord], title: str = "", width: int = 900
) -> Timeline:
    """Draw the records of a run; `width` in pixels."""
    return Timeline(list(records), title, width)


def seconds(value: float) -> str:
    """A duration in a fitting unit."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if abs(value) * factor >= 1 or unit == "µs":
            return f"{value * factor:.3g} {unit}"
    return ""


def size(nbytes: int) -> str:
    for unit, factor in (("MB", 1e6), ("kB", 1e3)):
        if nbytes >= factor:
            return f"{nbytes / factor:.3g} {unit}"
    return f"{nbytes} B"


def label(event: Event) -> str:
    """What a reader wants to know of an event, in one line."""
    shape = "×".join(map(str, event.shape)) if event.shape else ""
    parts = [f"{event} at {event.place}" if event.function else f"{event}"]
    if event.dtype:
        parts.append(f"{shape or 'scalar'} {event.dtype}, {size(event.nbytes)}")
    if event.end:
        parts.append(seconds(event.end - event.begin))
    else:
        parts.append("never ended")
    return " · ".join(parts)


def _told(found: Sequence[RankRecord]) -> list[str]:
    ledger = Ledger(len(found))
    ledger.update(found)
    lines = []
    for send, receive in ledger.pairs():
        value = f" = {send.value:g}" if send.shape in ((), (1,)) and send.value == send.value else ""
        late = "" if receive.done else ", never received"
        lines.append(
            (send.begin, f"rank {send.rank} → rank {receive.rank}: {size(send.nbytes)}{value} "
             f"({send.place} → {receive.place}){late}")
        )  # fmt: skip
    for group, calls in ledger.calls().items():
        for at in range(max(map(len, calls.values()))):
            events = [row[at] for row in calls.values() if at < len(row)]
            who = ", ".join(str(e.rank) for e in events)
            missing = "" if len(events) == len(group[0]) else " (the others never called it)"
            lines.append((events[0].begin, f"{events[0]} on ranks {who}{missing}"))
    told = [line for _, line in sorted(lines)]
    for record in found:
        if (event := record.waiting()) is not None:
            told.append(f"rank {record.rank} waits in {event} at {event.place} and never went on")
    return told


class _Scale:
    """Seconds to pixels, long gaps compressed: each gap between two events gets its 0.3rd power."""

    def __init__(self, times: Iterable[float], left: float, right: float) -> None:
        points = sorted(set(times)) or [0.0, 1.0]
        if len(points) == 1:
            points.append(points[0] + 1e-6)
        if len(points) > 1500:  # too many to give each its share
            points = points[:: len(points) // 1500] + [points[-1]]
        steps = [max(b - a, 1e-9) ** 0.3 for a, b in zip(points, points[1:], strict=False)]
        floor = sum(steps) / len(steps) * 0.35
        steps = [max(step, floor) for step in steps]
        scale = (right - left) / sum(steps)
        self.points, self.pixels = points, [left]
        for step in steps:
            self.pixels.append(self.pixels[-1] + step * scale)

    def __call__(self, time: float) -> float:
        at = min(max(bisect.bisect_right(self.points, time), 1), len(self.points) - 1)
        t0, t1 = self.points[at - 1 : at + 1]
        x0, x1 = self.pixels[at - 1 : at + 1]
        return x0 + (x1 - x0) * min(max((time - t0) / (t1 - t0), 0.0), 1.0)

    def ticks(self, apart: float = 90) -> list[tuple[float, float]]:
        """(pixel, seconds since the start) of labels at least `apart` pixels from each other."""
        found = [(self.pixels[0], 0.0)]
        for time, pixel in zip(self.points, self.pixels, strict=True):
            if pixel - found[-1][0] >= apart and self.pixels[-1] - pixel >= 30:
                found.append((pixel, time - self.points[0]))
        return found


def _thin(*bands) -> bool:
    """Are these too narrow at this size to be told apart?"""
    return bands[0][1] - bands[0][0] < 4 or len(bands[1]) > 6 and bands[1][6] > 1


class _Drawing:
    def __init__(self, made: Timeline) -> None:
        self.made, self.records = made, made.records
        self.events = [e for record in self.records for e in record.events]
        self.row = 58 if len(self.records) <= 5 else 34 if len(self.records) <= 8 else 24
        self.height = TOP + self.row * len(self.records) + 44
        self.parts: list[str] = []
        self.now = self._now()
        times = [t for r in self.records for t in (r.begin, r.end) if t]
        times += [t for e in self.events for t in (e.begin, e.end, e.wait_begin) if t]
        self.x = _Scale([*times, self.now] if times else [], LEFT, made.width - RIGHT)

    def _now(self) -> float:
        """The right edge: a little after the last thing that happened."""
        known = [t for e in self.events for t in (e.begin, e.end) if t]
        known += [r.end for r in self.records if r.end]
        stuck = any(r.waiting() is not None for r in self.records)
        first = min((r.begin for r in self.records if r.begin), default=0.0)
        last = max(known, default=first)
        return last + ((last - first) * 0.4 + 1e-3 if stuck else 0.0)

    def y(self, rank: int) -> float:
        return TOP + self.row * (rank + 0.5)

    def svg(self, standalone: bool) -> str:
        ledger = Ledger(len(self.records))
        ledger.update(self.records)
        self._axis()
        self._collectives(ledger)
        for record in self.records:
            self._rank(record)
        self._messages(ledger)
        self._labels()
        self._legend(ledger)
        return self._wrapped(standalone)

    def _wrapped(self, standalone: bool) -> str:
        described = escape("; ".join(_told(self.records)[:12]) or "no communication")
        own = (
            "<style>svg{color:#222}@media(prefers-color-scheme:dark){svg{color:#ddd}}</style>"
            if standalone else ""
        )  # fmt: skip
        title = escape(self.made.title or f"What {len(self.records)} ranks did")
        heading = ""
        if self.made.title:
            heading = self._text(LEFT, 14, self.made.title, "start", 12, "font-weight='bold'")
        return (
            f"<svg xmlns='http://www.w3.org/2000/svg' role='img' aria-label='{title}' "
            f"viewBox='0 0 {self.made.width} {self.height}' width='{self.made.width}' "
            f"height='{self.height}' style='max-width:100%;height:auto' "
            f"font-family='system-ui,sans-serif' fill='currentColor'>{own}<title>{title}</title>"
            f"<desc>{described}</desc>"
            "<defs>"
            + "".join(
                f"<marker id='dl{name}' viewBox='0 0 8 8' refX='7' refY='4' markerWidth='6' "
                f"markerHeight='6' orient='auto'><path d='M0 0L8 4L0 8z' fill='{colour}'/></marker>"
                for name, colour in (("m", MESSAGE), ("b", BAD))
            )
            + f"</defs>{heading}{''.join(self.parts)}</svg>"
        )

    def _text(self, x, y, said, anchor="middle", points=10, more="") -> str:
        return (
            f"<text x='{x:.1f}' y='{y:.1f}' font-size='{points}' text-anchor='{anchor}' {more}>"
            f"{escape(str(said))}</text>"
        )

    def _axis(self) -> None:
        bottom = TOP + self.row * len(self.records) + 4
        for x, after in self.x.ticks():
            self.parts.append(
                f"<line x1='{x:.1f}' x2='{x:.1f}' y1='{TOP}' y2='{bottom}' stroke='currentColor' "
                "stroke-opacity='.12'/>"
            )
            said = seconds(after) if after else "0"
            self.parts.append(self._text(x, bottom + 12, said, points=9, more="opacity='.7'"))

    def _rank(self, record: RankRecord) -> None:
        y = self.y(record.rank)
        self.parts.append(self._text(LEFT - 10, y + 4, f"rank {record.rank}", "end", 11))
        begin = record.begin or min((e.begin for e in record.events), default=self.x.points[0])
        end = record.end or self.now
        self.parts.append(
            f"<line x1='{self.x(begin):.1f}' x2='{self.x(end):.1f}' y1='{y}' y2='{y}' "
            "stroke='currentColor' stroke-opacity='.4' stroke-width='2'/>"
        )
        self._bars(record, y)
        mark = {records.RETURNED: ("■", "currentColor"), records.RAISED: ("✕", BAD)}.get(
            record.progress, ("✕", BAD) if record.progress else ("", "")
        )
        x = min(self.x(end), self.made.width - RIGHT) + 3
        said = {records.RETURNED: "returned", records.RAISED: "raised"}.get(record.progress, "ended")
        self.parts.append(
            f"<g><title>rank {record.rank} {said}</title>"
            f"{self._text(x, y + 3.5, mark[0], 'start', 9, f'fill={chr(39)}{mark[1]}{chr(39)}')}</g>"
        )

    def _bars(self, record: RankRecord, y: float) -> None:
        """Waiting as bars; bars that touch at this size become one, with their number."""
        merged: list[list] = []
        for event in record.events:
            start = event.begin if event.blocking else event.wait_begin
            if not start or event.op == "new_group":
                continue
            stop = event.wait_end or event.end or self.now
            bad = event.state != records.DONE
            x0, x1 = self.x(start), max(self.x(stop), self.x(start) + 2)
            colour = BAD if bad else LIBRARY if event.internal else WAITING
            if merged and merged[-1][3] == colour and x0 - merged[-1][1] < 0.5 and x1 - x0 < 3:
                merged[-1][1] = max(x1, merged[-1][1])
                merged[-1][2] += 1
            else:
                merged.append([x0, x1, 1, colour, label(event)])
        for x0, x1, count, colour, said in merged:
            said = said if count == 1 else f"{count} operations, the first: {said}"
            self.parts.append(
                f"<rect x='{x0:.1f}' y='{y - 5}' width='{x1 - x0:.1f}' height='10' rx='2' "
                f"fill='{colour}' fill-opacity='.75'><title>{escape(said)}</title></rect>"
            )

    def _collectives(self, ledger: Ledger) -> None:
        """Each collective as a band; bands that touch at this size become one, with their number."""
        bands = []
        for (members, _), calls in ledger.calls().items():
            for at in range(max(map(len, calls.values()))):
                bands.append(self._band([row[at] for row in calls.values() if at < len(row)], members))
        merged: list[list] = []
        for band in sorted(bands):
            last = merged[-1] if merged else None
            if last and last[2:5] == list(band[2:5]) and band[0] - last[1] < 1.5 and _thin(band, last):
                last[1], last[6] = max(last[1], band[1]), last[6] + 1
            else:
                merged.append([*band, 1])
        for x0, x1, top, bottom, colour, said, count in merged:
            self._draw_band(x0, x1, top, bottom, colour, said, count)

    def _band(self, events: list[Event], members: Sequence[int]) -> tuple:
        """One collective, from its last call to its last end, over the ranks that called it."""
        whole = len(events) == len(members) and len({e.op for e in events}) == 1
        colour = BAD if not whole else LIBRARY if events[0].internal else COLLECTIVE
        x0 = self.x(max(e.begin for e in events))
        x1 = max(self.x(max(e.end or self.now for e in events)), x0 + 2)
        top = self.y(min(e.rank for e in events)) - 11
        bottom = self.y(max(e.rank for e in events)) + 11
        said = f"{events[0]} on ranks {', '.join(str(e.rank) for e in events)}: {label(events[0])}"
        return x0, x1, top, bottom, colour, said

    def _draw_band(self, x0, x1, top, bottom, colour, said, count) -> None:
        said = said if count == 1 else f"{count} collectives, the first: {said}"
        self.parts.append(
            f"<rect x='{x0:.1f}' y='{top:.1f}' width='{x1 - x0:.1f}' height='{bottom - top:.1f}' "
            f"rx='4' fill='{colour}' fill-opacity='.2' stroke='{colour}' stroke-opacity='.7'>"
            f"<title>{escape(said)}</title></rect>"
        )
        if count > 1 and x1 - x0 > 40:
            self.parts.append(self._text((x0 + x1) / 2, top - 3, f"× {count}", points=9))

    def _messages(self, ledger: Ledger) -> None:
        pairs = list(ledger.pairs())
        lost = [e for e in ledger.unmatched() if e.op == "send"]
        if len(pairs) > MANY_ARROWS:
            return
        for send, receive in pairs:
            self._arrow(send, receive, len(pairs) <= 16)
        for record in self.records:
            self._waits(record)
        for send in lost[:MANY_ARROWS]:
            x, y = self.x(send.begin), self.y(send.rank)
            down = 14 if (send.peer or 0) > send.rank else -14
            self.parts.append(
                f"<path d='M{x:.1f} {y}l14 {down}' stroke='{BAD}' stroke-dasharray='3 2' fill='none' "
                f"marker-end='url(#dlb)'><title>{escape(label(send))}, never received</title></path>"
            )

    def _waits(self, record: RankRecord) -> None:
        """A dashed arrow from a rank that waits for ever to the one that it waits for."""
        event = record.waiting()
        if event is None or not event.is_message or event.peer is None:
            return
        if not 0 <= event.peer < len(self.records) or event.peer == record.rank:
            return
        sign = 1 if event.peer > record.rank else -1
        x = self.x(event.wait_begin or event.begin) + 24 + 14 * (record.rank % 4)
        y0, y1 = self.y(record.rank) + 6 * sign, self.y(event.peer) - 7 * sign
        self.parts.append(
            f"<path d='M{x:.1f} {y0}V{y1}' stroke='{BAD}' stroke-width='1.6' stroke-dasharray='4 3' "
            f"fill='none' marker-end='url(#dlb)'><title>rank {record.rank} waits for rank "
            f"{event.peer}</title></path>"
        )

    def _arrow(self, send: Event, receive: Event, labelled: bool) -> None:
        done = receive.state == records.DONE
        x0, y0 = self.x(send.begin), self.y(send.rank)
        x1, y1 = self.x(receive.end or self.now), self.y(receive.rank)
        if x1 - x0 < 6:
            x1 = x0 + 6
        sign = 1 if y1 > y0 else -1
        y0, y1 = y0 + 5 * sign, y1 - 6 * sign
        colour, marker = (MESSAGE, "dlm") if done else (BAD, "dlb")
        dash = "" if done else "stroke-dasharray='4 3'"
        said = f"rank {send.rank} → rank {receive.rank}: {label(send)}; received at {receive.place}"
        self.parts.append(
            f"<path d='M{x0:.1f} {y0}L{x1:.1f} {y1}' stroke='{colour}' stroke-width='1.6' {dash} "
            f"fill='none' marker-end='url(#{marker})'><title>{escape(said)}</title></path>"
        )
        if labelled:
            value = f" = {send.value:g}" if send.shape in ((), (1,)) and send.value == send.value else ""
            # beside the tail and on the outer side of the arrow, where others do not cross it
            x, y = x0 + (x1 - x0) * 0.25 + 7, y0 + (y1 - y0) * 0.25
            steep = abs(y1 - y0) > 0.4 * (x1 - x0)
            y += 3 if steep else -5 * sign if sign > 0 else 11
            self.parts.append(
                self._text(x, y, size(send.nbytes) + value, "start", 9, f"fill='{colour}'")
            )

    def _labels(self) -> None:
        """Names beside the bars, where there are few; one that would hide another is left out."""
        if len(self.events) > FEW * max(1, len(self.records) / 3) or self.row < 30:
            return
        for record in self.records:
            taken: dict[int, float] = {}
            for event in sorted(record.events, key=lambda e: e.begin):
                said = f"{event.op} by torch" if event.internal else event.api or event.op
                x, wide = self.x(event.begin), _LABEL * len(said) + 6
                for level in (0, 1):
                    if x >= taken.get(level, 0.0):
                        y = self.y(record.rank) + (17 if level else -9)
                        colour = BAD if event.state != records.DONE else "currentColor"
                        self.parts.append(
                            self._text(x, y, said, "start", 9, f"opacity='.85' fill='{colour}'")
                        )
                        taken[level] = x + wide
                        break

    def _legend(self, ledger: Ledger) -> None:
        ops = {e.op for e in self.events}
        shown = [("waiting", WAITING, any(e.wait_begin or e.blocking for e in self.events))]
        shown.append(("message", MESSAGE, "send" in ops))
        calls = [e for e in self.events if e.is_collective]
        shown.append(("collective", COLLECTIVE, any(not e.internal for e in calls)))
        shown.append(("by DDP or torch itself", LIBRARY, any(e.internal for e in calls)))
        shown.append(("did not end or does not match", BAD, any(not e.done for e in self.events)))
        x, y = float(LEFT), self.height - 8.0
        for said, colour, there in shown:
            if there:
                self.parts.append(
                    f"<rect x='{x:.0f}' y='{y - 8}' width='10' height='8' rx='2' fill='{colour}'/>"
                )
                self.parts.append(self._text(x + 14, y, said, "start", 9, "opacity='.8'"))
                x += 14 + _LABEL * len(said) + 14
        if sum(1 for _ in ledger.pairs()) > MANY_ARROWS:
            self.parts.append(self._text(x, y, "too many messages to draw", "start", 9))
