"""The legend of a space-time diagram: what the marks in it mean."""

from __future__ import annotations

from collections.abc import Collection

from distlab.viz.svg import (
    BLUE,
    GREEN,
    ORANGE,
    PURPLE,
    VERMILLION,
    cross,
    head,
    number,
    tag,
    text,
    text_width,
)

_WORDS = {
    "compute": "computing",
    "wait": "waiting",
    "post": "posted, goes on",
    "message": "message",
    "messages": "several messages",
    "collective": "collective",
    "block": "several merged",
    "internal": "collective of DDP",
    "optimizer": "collective of Horovod's optimizer",
    "stuck": "never finished",
    "unmatched": "never matched",
    "returned": "returned",
    "raised": "raised",
    "break": "time cut out",
}


def legend(
    used: Collection[str], notes: Collection[str], name: str, y: float, width: float
) -> tuple[str, float]:
    """The kinds of marks in `used`, then `notes`, in lines; and where the last line ends."""
    x, parts = 8.0, []
    for kind, label in _WORDS.items():
        if kind not in used:
            continue
        room = 26 + text_width(label, 10) + 14
        if x + room > width:
            x, y = 8.0, y + 16
        place = f"translate({number(x)},{number(y)})"
        parts.append(tag("g", _sample(kind, name), text(26, 4, label, 10), transform=place))
        x += room
    for note in notes:
        if x + text_width(note, 10) > width:
            x, y = 8.0, y + 16
        parts.append(text(x, y + 4, note, 10, font_style="italic", fill_opacity=0.8))
        x += text_width(note, 10) + 14
    return tag("g", *parts), y + 14


def _sample(kind: str, name: str) -> str:
    box = {"x": 2, "y": -5, "width": 18, "height": 10}
    filled = {"collective": (GREEN, "b"), "block": (GREEN, "b k"), "internal": (PURPLE, "b"),
              "optimizer": (PURPLE, "b")}  # fmt: skip
    if kind == "compute":
        return tag("path", d="M2 0H20", class_="c")
    if kind in ("wait", "stuck"):
        color, pattern = (ORANGE, "w") if kind == "wait" else (VERMILLION, "r")
        return tag("rect", **box, fill=f"url(#{name}{pattern})", stroke=color)
    if kind in filled:
        color, style = filled[kind]
        return tag("g", tag("rect", **box), class_=style, fill=color, stroke=color)
    if kind in ("message", "messages", "unmatched"):
        color, dash = (VERMILLION, "4 3") if kind == "unmatched" else (BLUE, None)
        thick = 3.6 if kind == "messages" else 1.6
        line = tag("path", d="M2 0H14", stroke=color, stroke_width=thick, stroke_dasharray=dash)
        return line + head(20, 0, 1, 0, fill=color)
    if kind == "post":
        return tag("circle", cx=11, cy=0, r=3, class_="p")
    if kind == "returned":
        return tag("rect", x=7, y=-4.5, width=9, height=9, fill="currentColor")
    return cross(11, 0, 5) if kind == "raised" else text(6, 4, "//", 11)
