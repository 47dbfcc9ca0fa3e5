"""Pictures of a run that is timed again: what its ranks do, and a curve over the number of ranks.

They are drawn here for the still page and for the live one, so that the two cannot differ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from distlab.records.wording import duration
from distlab.simulation.retiming import COMPUTES, MOST_SPANS, MOVES, WAITS, Row
from distlab.viz.svg import BLUE, GREEN, ORANGE, hover, number, tag, text

WORDS = {COMPUTES: "computes", WAITS: "waits for others", MOVES: "communicates"}
#: for messages, whose records do not tell waiting for a partner from bytes on their way
WORDS_OF_MESSAGES = {COMPUTES: "computes", MOVES: "communicates or waits"}
#: fill, its opacity, stroke, height: told apart without their colours too
_LOOKS = {
    COMPUTES: ("currentColor", 0.45, "none", 6.0),
    WAITS: (ORANGE, 0.25, ORANGE, 14.0),
    MOVES: (GREEN, 0.9, GREEN, 18.0),
}
_WIDE, _LEFT, _RIGHT, _STEP, _TOP = 560.0, 132.0, 14.0, 26.0, 20.0


def label(row: Row) -> str:
    """A row's rank, and how many more there are of its kind."""
    more = f" and {row.like - 1:,} like it" if row.like > 1 else ""
    return f"rank {row.rank}{', slow' * row.slow}{more}"


def rows_picture(rows: Sequence[Row], title: str, words: Mapping[str, str] = WORDS) -> str:
    """A row for each rank, in which time runs to the right. A thin line means that the rank
    computes, an outlined box that it waits, and a filled one that it communicates.

    Args:
        words: for each kind of span that there may be.
    """
    end = max((row.end for row in rows), default=0.0)
    cut = min(
        (row.spans[MOST_SPANS].end for row in rows if len(row.spans) > MOST_SPANS), default=end
    )
    scale = (_WIDE - _LEFT - _RIGHT) / (cut or 1.0)
    parts = [text(0, 11, f"{title}, the first {duration(cut)}" if cut < end else title, 12)]
    for place, row in enumerate(rows):
        middle = _TOP + _STEP * (place + 0.5)
        parts.append(text(0, middle + 4, label(row)))
        for span in row.spans[:MOST_SPANS]:
            if span.begin < cut:
                parts.append(_box(span.kind, span.begin, min(span.end, cut), scale, middle,
                                  f"{words[span.kind]} {duration(span.end - span.begin)}"
                                  + (f" in {span.of}" if span.of else "")))  # fmt: skip
    bottom = _TOP + _STEP * len(rows) + 4
    parts.append(_line(_LEFT, bottom, _WIDE - _RIGHT, bottom))
    for share, anchor in ((0.0, "start"), (0.5, "middle"), (1.0, "end")):
        x = _LEFT + share * (_WIDE - _LEFT - _RIGHT)
        parts += [
            _line(x, bottom, x, bottom + 4),
            text(x, bottom + 17, duration(share * cut) if share else "0", text_anchor=anchor),
        ]
    x = _LEFT
    for kind, word in words.items():
        parts += [
            _box(kind, x, x + 22, 1.0, bottom + 34, "", left=0.0),
            text(x + 28, bottom + 38, word),
        ]
        x += 44 + 6.4 * len(word)
    return _svg(f"{title}: one row for each rank", _WIDE, bottom + 50, parts)


def curve_picture(points: Sequence[tuple[int, float]], chosen: int, title: str, share: bool) -> str:
    """Values over the number of ranks.

    Args:
        points: (ranks, value), in order; a value that is `nan` is left out.
        chosen: the number of ranks that is marked.
        share: values are efficiencies from 0 to 1; otherwise seconds, on a logarithmic scale.
    """
    wide, high, left, top = 400.0, 250.0, 62.0, 24.0
    known = [(ranks, value) for ranks, value in points if math.isfinite(value) and value > 0]
    low, most = _ends([value for _, value in known], share)
    last = math.log2(max(ranks for ranks, _ in points)) or 1.0

    def at(ranks: int, value: float) -> tuple[float, float]:
        up = (value - low) / (most - low) if share else math.log(value / low) / math.log(most / low)
        return left + math.log2(ranks) / last * (wide - left - 24), high - 40 - up * (
            high - 40 - top
        )

    parts = [text(0, 11, title, 12)]
    for value in _marks(low, most, share):
        y = at(1, value)[1]
        told = f"{value:.0%}" if share else duration(value)
        parts += [_line(left, y, wide - 24, y, opacity=0.2),
                  text(left - 6, y + 4, told, text_anchor="end")]  # fmt: skip
    for ranks in (1, 4, 16, 64, 256, 1000):
        if math.log2(ranks) <= last:
            x = at(ranks, most)[0]
            parts += [_line(x, high - 40, x, high - 36),
                      text(x, high - 22, f"{ranks:,}", text_anchor="middle")]  # fmt: skip
    parts.append(text((left + wide) / 2, high - 6, "ranks", text_anchor="middle"))
    path = "L".join("{} {}".format(*map(number, at(*point))) for point in known)
    parts.append(tag("path", d=f"M{path}" if path else "M0 0", fill="none", stroke=BLUE,
                     stroke_width=2))  # fmt: skip
    for ranks, value in known:
        x, y = at(ranks, value)
        told = f"{value:.1%}" if share else duration(value)
        here = ranks == chosen
        parts.append(
            tag("circle", hover(f"{ranks:,} ranks: {told}"), cx=x, cy=y, r=6.0 if here else 2.5,
                fill="none" if here else BLUE, stroke=BLUE, stroke_width=2.5 if here else 0)
        )  # fmt: skip
    return _svg(title, wide, high, parts)


def _ends(values: Sequence[float], share: bool) -> tuple[float, float]:
    if share or not values:
        return 0.0, max(1.0, *values) if values else 1.0
    low, most = min(values), max(values)
    return (low / 2, most * 2) if low == most else (low, most)


def _marks(low: float, most: float, share: bool) -> list[float]:
    """Values for the lines of a grid."""
    if share:
        return [value / 4 for value in range(int(4 * most) + 1)]
    decades = range(math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(most) + 1e-9) + 1)
    if len(decades) >= 2:
        step = -(-len(decades) // 6)
        return [10.0**power for power in decades[::step]]
    return [low, most]


def _box(
    kind: str, begin: float, end: float, scale: float, middle: float, told: str, left: float = _LEFT
) -> str:
    fill, opacity, stroke, high = _LOOKS[kind]
    return tag(
        "rect", hover(told), x=left + scale * begin, y=middle - high / 2,
        width=max(0.5, scale * (end - begin)), height=high, fill=fill, fill_opacity=opacity,
        stroke=stroke, stroke_width=1,
    )  # fmt: skip


def _line(x0: float, y0: float, x1: float, y1: float, opacity: float = 0.6) -> str:
    return tag("path", d=f"M{number(x0)} {number(y0)}L{number(x1)} {number(y1)}", fill="none",
               stroke="currentColor", stroke_opacity=opacity)  # fmt: skip


def _svg(name: str, wide: float, high: float, parts: Sequence[str]) -> str:
    return tag(
        "svg", *parts, xmlns="http://www.w3.org/2000/svg", role="img", aria_label=name,
        viewBox=f"0 0 {number(wide)} {number(high)}", width=number(wide), height=number(high),
        fill="currentColor", font_size=11, font_family="system-ui, 'DejaVu Sans', sans-serif",
        style="max-width:100%;height:auto",
    )  # fmt: skip
