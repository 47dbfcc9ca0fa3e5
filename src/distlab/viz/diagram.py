"""A run's layout as SVG.

Text and lines are in `currentColor`, so that the picture suits a dark page as well as a light one;
what has a meaning of its own has a colour of Okabe and Ito's, and a shape besides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from distlab.records.events import FAILED, NOT_STARTED, RAISED, RETURNED, Event
from distlab.records.matching import refused_by_torch
from distlab.records.pairing import Collective, either
from distlab.records.wording import (
    call_text,
    collective_text,
    duration,
    event_text,
    message_text,
    name_of,
    payload_text,
    size_text,
    value_text,
)
from distlab.viz.layout import LEFT, Arrow, Layout, Span, closing, ending
from distlab.viz.legend import legend
from distlab.viz.svg import (
    BLUE,
    GREEN,
    ORANGE,
    PURPLE,
    VERMILLION,
    Room,
    cross,
    head,
    hover,
    number,
    tag,
    text,
    text_width,
)

_AXIS = 30.0  # pixels under the last row for the axis


def _kind(event: Event) -> str:
    """Who asked for a collective: the function itself, DDP, or Horovod's optimizer."""
    if not event.internal:
        return "collective"
    return "optimizer" if event.is_named else "internal"


class Drawing:
    """Draws one layout; `name` sets its ids apart from those of other pictures on the page."""

    def __init__(
        self, layout: Layout, name: str, title: str | None, highlight: Collection[object]
    ) -> None:
        self.at, self.name, self.title = layout, name, title
        self.lit = {(e.rank, e.index) for e in highlight if isinstance(e, Event)}
        self.lit_ranks = {r for r in highlight if isinstance(r, int)}
        lanes = 1 + (len(layout.bands) > 6) if layout.bands else 0
        self.top = (24.0 if title else 6.0) + 15.0 * lanes
        self.bottom = self.top + layout.row * len(layout.records)
        self.used: dict[str, None] = {}  # kinds of marks drawn, for the legend
        self.room = Room(LEFT, 0, layout.width, self.bottom + 1)

    def y(self, rank: int) -> float:
        return self.top + self.at.row * (rank + 0.5)

    def body(self) -> tuple[str, float]:
        """The picture's content, and its height in pixels."""
        bands = [self._band(span) for span in self.at.bands]
        rows = [self._row(rank) for rank in range(len(self.at.records))]
        arrows = [self._arrow(arrow) for arrow in self.at.arrows]
        parts = [
            self._patterns(), self._heading(), self._axis(), self._breaks(), *bands, *rows, *arrows,
            *self._band_labels(), *self._call_labels(), *self._message_labels(),
        ]  # fmt: skip
        notes = () if self.at.scale.linear else ("time is not to scale: short steps drawn wider",)
        words, bottom = legend(self.used, notes, self.name, self.bottom + _AXIS + 14, self.at.width)
        return "".join([*parts, words]), bottom

    def _patterns(self) -> str:
        def hatch(kind: str, color: str) -> str:
            return tag(
                "pattern",
                tag("rect", width=5, height=5, fill=color, fill_opacity=0.25),
                tag("rect", width=2, height=5, fill=color, fill_opacity=0.75),
                id=f"{self.name}{kind}", width=5, height=5,
                patternUnits="userSpaceOnUse", patternTransform="rotate(45)",
            )  # fmt: skip

        return tag("defs", hatch("w", ORANGE), hatch("r", VERMILLION))

    def _heading(self) -> str:
        return text(8, 15, self.title, 13, font_weight="bold") if self.title else ""

    # time

    def _axis(self) -> str:
        at, y = self.at, self.bottom + 4
        parts = [tag("path", d=f"M{number(LEFT)} {number(y)}H{number(at.right)}", fill="none")]
        free_from = 0.0
        for x, label in at.scale.ticks():
            parts.append(
                tag("path", d=f"M{number(x)} {number(self.top)}V{number(y + 4)}", opacity=0.25)
            )
            half = text_width(label, 10) / 2
            if x - half > free_from:
                parts.append(text(x, y + 16, label, 10, text_anchor="middle", stroke="none"))
                free_from = x + half + 6
        return tag("g", *parts, stroke="currentColor", stroke_opacity=0.6)

    def _breaks(self) -> str:
        at, parts, free_from = self.at, [], 0.0
        for a, b in at.scale.breaks:
            x, y = (at.scale(a) + at.scale(b)) / 2, self.bottom + 4
            cuts = "".join(
                f"M{number(x + d - 3)} {number(y + 5)}L{number(x + d + 3)} {number(y - 5)}"
                for d in (-3, 3)
            )
            edge = "".join(f"M{number(x + d)} {number(self.top)}V{number(y)}" for d in (-3, 3))
            label = f"// {duration(b - a)}"
            half = text_width(label, 10) / 2
            middle = max(x, free_from + half)  # beside that of a cut close by
            free_from = middle + half + 6
            parts += [
                tag("path", d=edge, stroke_dasharray="2 3", opacity=0.5),
                tag("path", d=cuts),
                text(middle, y + 28, label, 10, text_anchor="middle", stroke="none"),
            ]
            self.used["break"] = None
        return tag("g", *parts, stroke="currentColor") if parts else ""

    # ranks

    def _row(self, rank: int) -> str:
        record, y, at = self.at.records[rank], self.y(rank), self.at
        lit = rank in self.lit_ranks
        bold = "bold" if lit else None
        parts = [
            text(8, y + 4, f"rank {rank}", 12, font_weight=bold, fill=VERMILLION if lit else None)
        ]
        self.room.take(LEFT, y - at.bar / 2, at.right, y + at.bar / 2)
        if record.progress == NOT_STARTED and not record.events:
            return parts[0] + text(LEFT + 8, y + 4, "never started", 11, fill=VERMILLION)
        until = closing(record, at.horizon)
        free = at.scale(record.begin or at.start)
        for span in [*at.waits[rank], None]:
            x = span.x0 if span else at.scale(until)
            if x > free:
                d = f"M{number(free)} {number(y)}H{number(x)}"
                parts.append(tag("path", d=d, class_="c"))
                self.used["compute"] = None
            free = max(free, span.x1) if span else free
        parts += [self._wait(span, y) for span in at.waits[rank]]
        if len(record.events) <= 40:
            parts += [self._post(event, y) for event in record.events]
        return tag("g", *parts, self._end(rank, y))

    def _wait(self, span: Span, y: float) -> str:
        at, first = self.at, span.items[0]
        block = len(span.items) > 1
        bad = any(e.state == FAILED or not e.done for e in span.items)
        self.used["stuck" if bad else "wait"] = None
        color = VERMILLION if bad else ORANGE
        share = min(1.0, span.seconds / (at.scale.time(span.x1) - at.scale.time(span.x0) or 1))
        high = max(3.0, at.bar * share) if block else at.bar
        note = self._block_text(span, share) if block else event_text(first, at.start)
        lit = any((e.rank, e.index) in self.lit for e in span.items)
        return tag(
            "rect", hover(note), x=span.x0, y=y - high / 2, width=max(1.5, span.x1 - span.x0),
            height=high, fill=f"url(#{self.name}{'r' if bad else 'w'})",
            stroke=VERMILLION if lit else color, stroke_width=2.5 if lit else None,
        )  # fmt: skip

    def _block_text(self, span: Span, share: float) -> str:
        counted = Counter(call_text(e) for e in span.items)
        listed = ", ".join(f"×{n} {name}" for name, n in counted.most_common(5))
        time = duration(self.at.scale.time(span.x1) - self.at.scale.time(span.x0))
        return f"rank {span.items[0].rank}: {listed}\nwaits {share:.0%} of {time}"

    def _post(self, event: Event, y: float) -> str:
        """A dot where a non-blocking operation is posted; a cross where a call was refused."""
        x, at = self.at.scale(event.begin), self.at
        if refused_by_torch(event):
            return tag("g", hover(event_text(event, at.start)), cross(x, y, 4))
        if event.blocking or event.op == "new_group" or event.internal:
            return ""
        self.used["post"] = None
        return tag("circle", hover(event_text(event, at.start)), cx=x, cy=y, r=3, class_="p")

    def _end(self, rank: int, y: float) -> str:
        record, at = self.at.records[rank], self.at
        x = at.scale(closing(record, at.horizon))
        if record.progress == RETURNED:
            self.used["returned"] = None
            note = hover(f"rank {rank} returned at {duration(record.end - at.start)}")
            return tag("rect", note, x=x - 1, y=y - 4.5, width=9, height=9, fill="currentColor")
        if record.progress == RAISED:
            self.used["raised"] = None
            note = hover(f"rank {rank} raised an exception at {duration(record.end - at.start)}")
            mark = tag("g", note, cross(x + 4, y, 5))
            return mark + text(x + 13, y + 4, "raised", 10, fill=VERMILLION)
        return text(x + 8, y + 4, "did not end", 10, fill=VERMILLION)

    # collectives

    def _band(self, span: Span) -> str:
        call: Collective = span.items[0]
        bad = any(not c.done for c in span.items)
        kind = "stuck" if bad else _kind(call.first)
        self.used["block" if len(span.items) > 1 and kind == "collective" else kind] = None
        color = {"stuck": VERMILLION, "collective": GREEN}.get(kind, PURPLE)
        shapes = self._outline(span, call)
        note = self._band_text(span)
        return tag(
            "g", hover(note), *shapes, class_="b" if len(span.items) == 1 else "b k", fill=color,
            stroke=color, stroke_dasharray="4 3" if bad else None,
        )  # fmt: skip

    def _outline(self, span: Span, call: Collective) -> list[str]:
        """A polygon through begins and ends, one for each row of neighbouring members."""
        half, shapes = self.at.bar / 2 + 4, []
        runs: list[list[int]] = []
        for rank in sorted(call.calls):
            if runs and rank == runs[-1][-1] + 1:
                runs[-1].append(rank)
            else:
                runs.append([rank])
        for run in runs:
            left, right = [], []
            for rank in run:
                y = self.y(rank)
                x0, x1 = self._extent(span, rank)
                left += [(x0, y - half), (x0, y + half)]
                right += [(x1, y - half), (x1, y + half)]
            points = " ".join(f"{number(x)},{number(y)}" for x, y in [*left, *reversed(right)])
            shapes.append(tag("polygon", points=points))
        for above, below in zip(runs, runs[1:], strict=False):
            x0, x1 = (sum(self._extent(span, rank)) / 2 for rank in (above[-1], below[0]))
            y0, y1 = self.y(above[-1]) + half, self.y(below[0]) - half
            d = f"M{number(x0)} {number(y0)}L{number(x1)} {number(y1)}"
            shapes.append(tag("path", d=d, stroke_dasharray="1 3"))
        return shapes

    def _extent(self, span: Span, rank: int) -> tuple[float, float]:
        """Where a band begins and ends in the row of one of its ranks."""
        if len(span.items) > 1:
            return span.x0, span.x1
        event, scale = span.items[0].calls[rank], self.at.scale
        x0, end = scale(event.begin), closing(self.at.records[rank], self.at.horizon)
        return x0, max(scale(ending(event, end)), x0 + 2)

    def _band_text(self, span: Span) -> str:
        at = self.at
        if len(span.items) > 1:
            seconds = at.scale.time(span.x1) - at.scale.time(span.x0)
            return f"{self._band_name(span)} in {duration(seconds)}"
        call = span.items[0]
        lines = [collective_text(call, len(at.records)) + f", {duration(span.seconds)}"]
        if payload := payload_text(call.first):
            lines.append(f"{payload} · {call.first.dtype}")
        if call.conflict:
            lines.append(f"these do not fit together: {call.conflict}")
        late = max(call.calls.values(), key=lambda e: e.begin)
        lines.append(f"at {call.first.place}; last to come: rank {late.rank}")
        return "\n".join(lines)

    def _band_name(self, span: Span, short: bool = False) -> str:
        names = Counter(name_of(c.first) for c in span.items)
        if len(span.items) == 1:
            name = collective_text(span.items[0], len(self.at.records))
        else:
            name = f"×{len(span.items)} " + (
                next(iter(names)) if len(names) == 1 else "collectives"
            )
        return name.split(" (")[0] if short else name

    def _band_labels(self) -> list[str]:
        parts = []
        for span in self.at.bands:
            call = span.items[0]
            half = self.at.bar / 2 + 8
            first = min(call.calls)
            y = self.y(first) - half if first or self.at.few else self.top - 3
            bad = any(not c.done for c in span.items)
            x0, x1 = self._extent(span, first)
            ys = [y, self.top - 3 - 15] if not first and len(self.at.bands) > 6 else [y]
            color = VERMILLION if bad else None
            for name in dict.fromkeys((self._band_name(span), self._band_name(span, short=True))):
                places = []
                for py in ys:
                    places += [((x0 + x1) / 2, py, "middle"), (x0, py, "start"), (x1, py, "end")]
                if part := self.room.place(name, places, fill=color):
                    parts.append(part)
                    break
            parts.append(self._band_place(span))
        return parts

    def _band_place(self, span: Span) -> str:
        """Under the band: where the call stands and what it carries."""
        call = span.items[0]
        if len(self.at.bands) > 12 or len(span.items) > 1:
            return ""
        y = self.y(max(call.calls)) + self.at.bar / 2 + 15
        event = call.first
        stands = dict.fromkeys(e.place for e in call.calls.values())
        lines = [" / ".join(list(stands)[:3])] if not event.internal else []
        if payload := payload_text(event):
            lines.append(payload)
        x0, x1 = self._extent(span, max(call.calls))
        places = [((x0 + x1) / 2, y, "middle"), (x0, y, "start"), (x1, y, "end")]
        wanted = ["\n".join(lines), lines[0]] if lines else []
        return next(filter(None, (self.room.place(w, places, 9.5) for w in wanted)), "")

    # messages

    def _ends(self, arrow: Arrow) -> tuple[float, float, float, float]:
        """Both ends of an arrow; where one side is missing it comes from or goes to nowhere."""
        half = self.at.bar / 2
        src, dst = arrow.src, arrow.dst
        if src < 0:  # from any rank: from above or below
            src = arrow.dst - 1 if arrow.dst else arrow.dst + 1
        down = 1 if dst > src else -1
        x0, x1 = arrow.x0, arrow.x1
        y0, y1 = self.y(src) + down * half, self.y(dst) - down * half
        reach = min(0.5 * abs(y1 - y0), 40.0)
        if arrow.state == "lost":
            y1, x1 = y0 + down * reach, x0 + 34
        elif arrow.state == "unsent":
            y0, x0 = y1 - down * reach, x1 - 34
        return x0, y0, x1, y1

    def _arrow(self, arrow: Arrow) -> str:
        x0, y0, x1, y1 = self._ends(arrow)
        bad = arrow.state != "done"
        color = VERMILLION if bad else BLUE
        self.room.take_line(x0, y0, x1, y1)
        many = len(arrow.pairs)
        self.used["unmatched" if bad else "messages" if many > 1 else "message"] = None
        d = f"M{number(x0)} {number(y0)}L{number(x1)} {number(y1)}"
        dash = "5 4" if arrow.state in ("lost", "unsent", "open") else None
        send, receive = arrow.pairs[0]
        if many > 1:
            sizes = sum(either(*both).nbytes for both in arrow.pairs)
            note = f"×{many} messages, rank {arrow.src} → rank {arrow.dst}, {size_text(sizes)}"
        else:
            note = message_text(send, receive, self.at.start)
        lit = any(e and (e.rank, e.index) in self.lit for both in arrow.pairs for e in both)
        line = tag("path", d=d, stroke_dasharray=dash,
                   stroke_width=4.0 if lit else 1.6 if many == 1 else 2.6)  # fmt: skip
        wide = tag("path", d=d, stroke_width=9, stroke_opacity=0)  # easier to point at
        small = 5.5 if self.at.row < 30 else 7 if many == 1 else 9
        tip = head(x1, y1, x1 - x0, y1 - y0, small, stroke="none")
        return tag("g", hover(note), wide, line, tip, class_="m", stroke=color, fill=color)

    def _message_labels(self) -> list[str]:
        parts: list[str] = []
        arrows = self.at.arrows
        if len(arrows) > 14:
            return parts
        for arrow in arrows:
            x0, y0, x1, y1 = self._ends(arrow)
            send, receive = arrow.pairs[0]
            event = either(send, receive)
            words = " ".join(t for t in (value_text(event), payload_text(event)) if t)
            more = {"lost": "never received", "unsent": "nothing sent", "open": "not finished",
                    "wrong": "does not fit"}.get(arrow.state)  # fmt: skip
            color = VERMILLION if more else None
            places = []
            for along in (0.5, 0.35, 0.65, 0.25, 0.75):
                x, y = x0 + along * (x1 - x0), y0 + along * (y1 - y0) + 4
                lean = 8 + 6 * abs(x1 - x0) / (abs(y1 - y0) or 1)
                places += [(x + lean, y, "start"), (x - lean, y, "end")]
                # beside a flat arrow there is room on the sides that it turns away from
                over, under = ("start", "end") if (x1 - x0) * (y1 - y0) > 0 else ("end", "start")
                places += [(x, y - 10, over), (x, y + 10, under)]
            if more:
                places.insert(
                    0, (max(x0, x1) + 8, (y1 if arrow.state == "lost" else y0) + 4, "start")
                )
            for label in filter(
                None, (f"{words} · {more}" if more else words, more or value_text(event))
            ):
                if part := self.room.place(label, places, fill=color):
                    parts.append(part)
                    break
        return parts

    def _call_labels(self) -> list[str]:
        """In a small run, at each send and receive: the call and where it stands."""
        if not self.at.few:
            return []
        parts, last = [], len(self.at.records) - 1
        for record in self.at.records:
            y, half = self.y(record.rank), self.at.bar / 2
            above, below = y - half - 17, y + half + 13
            for event in record.events:
                if not event.is_message or event.internal:
                    continue
                x = self.at.scale(event.begin)
                order = [above, below] if record.rank == 0 and last > 0 else [below, above]
                places = [(x + dx, py, "start") for py in order for dx in (0, 8, 16)]
                content = f"{call_text(event)}\n{event.place}"
                parts.append(self.room.place(content, places, 10))
        return parts
