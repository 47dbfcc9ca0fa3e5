"""Write SVG: elements as strings, the width of a text, and room for labels."""

from __future__ import annotations

import functools
import re
from xml.sax.saxutils import escape, quoteattr

# Okabe and Ito's colours, which colour-blind readers can tell apart: https://jfly.uni-koeln.de/color
# (its blue a little lighter, so that a thin line of it shows on black as on white)
BLUE, GREEN, ORANGE = "#1A83C6", "#009E73", "#E69F00"
VERMILLION, PURPLE = "#D55E00", "#CC79A7"
_FORBIDDEN = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # by XML
_PLAIN = re.compile("[-\\w .,:;#/()%]*", re.ASCII)  # stands in an attribute as it is


def number(value: float) -> str:
    """A coordinate with at most one decimal: 12, 12.5."""
    return f"{value:.1f}".removesuffix(".0")


def tag(name: str, *content: str, **attributes: object) -> str:
    """An element of content that is SVG already; an attribute `stroke_width` is stroke-width."""
    parts = [name]
    for key, value in attributes.items():
        if value is not None:
            text = number(value) if isinstance(value, float) else str(value)
            quoted = f'"{text}"' if _PLAIN.fullmatch(text) else quoteattr(printable(text))
            parts.append(f"{_attribute(key)}={quoted}")
    head = " ".join(parts)
    return f"<{head}>{''.join(content)}</{name}>" if content else f"<{head}/>"


@functools.lru_cache(maxsize=256)
def _attribute(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def hover(text: str) -> str:
    """A tooltip of the element around it."""
    return tag("title", clean(text)) if text else ""


def printable(text: str) -> str:
    """Text without the characters that XML forbids."""
    return _FORBIDDEN.sub("", text)


def clean(text: str) -> str:
    """Text as SVG content: printable and escaped."""
    return escape(printable(text))


def ink(color: str) -> str:
    """A colour for text: nearer to that of the page's own text, so that it can be read on light and
    on dark. Where a viewer does not know how to mix colours, text has the page's.
    """
    return f"color-mix(in srgb,{color} 60%,currentColor)"


def text(x: float, y: float, content: str, size: float = 11, **attributes: object) -> str:
    if size != 11:
        attributes["font_size"] = size
    if isinstance(color := attributes.get("fill"), str):
        attributes["fill"] = ink(color)
    return tag("text", clean(content), x=float(x), y=float(y), **attributes)


def text_width(content: str, size: float = 11) -> float:
    """About how wide a text is in a sans-serif font, in pixels; rather too wide than too narrow."""
    narrow = sum(c in "ijl.,:;|!()[]'·1 tfr" for c in content)
    return size * (0.62 * (len(content) - narrow) + 0.42 * narrow)


def head(x: float, y: float, dx: float, dy: float, size: float = 7, **attributes: object) -> str:
    """An arrowhead with its tip at (x, y), of an arrow that runs in direction (dx, dy)."""
    length = (dx * dx + dy * dy) ** 0.5 or 1.0
    ux, uy = dx / length, dy / length
    bx, by = x - size * ux, y - size * uy
    side = 0.42 * size
    points = ((x, y), (bx - side * uy, by + side * ux), (bx + side * uy, by - side * ux))
    path = "L".join(f"{number(px)} {number(py)}" for px, py in points)
    return tag("path", d=f"M{path}Z", **attributes)


def cross(x: float, y: float, r: float) -> str:
    """A cross over (x, y) that says that something failed."""
    a, b, c, d = (number(v) for v in (x - r, x + r, y - r, y + r))
    path = f"M{a} {c}L{b} {d}M{a} {d}L{b} {c}"
    return tag("path", d=path, stroke=VERMILLION, stroke_width=2.5)


class Room:
    """Where labels may still go: boxes (x0, y0, x1, y1) that are taken."""

    def __init__(self, x0: float, y0: float, x1: float, y1: float) -> None:
        self._bounds = x0, y0, x1, y1
        self._taken: list[tuple[float, float, float, float]] = []

    def take(self, x0: float, y0: float, x1: float, y1: float) -> None:
        self._taken.append((x0, y0, x1, y1))

    def take_line(self, x0: float, y0: float, x1: float, y1: float) -> None:
        """A slanted line, as a row of small boxes along it."""
        steps = max(1, int(max(abs(x1 - x0), abs(y1 - y0)) / 6))
        for step in range(steps + 1):
            x, y = x0 + (x1 - x0) * step / steps, y0 + (y1 - y0) * step / steps
            self.take(x - 2, y - 2, x + 2, y + 2)

    def free(self, x0: float, y0: float, x1: float, y1: float) -> bool:
        left, top, right, bottom = self._bounds
        if x0 < left or y0 < top or x1 > right or y1 > bottom:
            return False
        return not any(x0 < b[2] and b[0] < x1 and y0 < b[3] and b[1] < y1 for b in self._taken)

    def place(
        self, content: str, places: list[tuple[float, float, str]], size: float = 11,
        **attributes: object,
    ) -> str:  # fmt: skip
        """The text at the first free one of `places` (x, y of a baseline, anchor), or nothing.

        Lines are separated by newlines; those after the first are fainter.
        """
        lines, step = content.split("\n"), 1.15 * size
        width = max(text_width(line, size) for line in lines)
        for x, y, anchor in places:
            left = x - {"start": 0, "middle": width / 2, "end": width}[anchor]
            box = (left - 2, y - 0.85 * size, left + width + 2, y + step * len(lines) - 0.85 * size)
            if self.free(*box):
                self.take(*box)
                anchored = {} if anchor == "start" else {"text_anchor": anchor}
                return "".join(
                    text(x, y + i * step, line, size, **anchored, **attributes,
                         fill_opacity=0.7 if i else None)
                    for i, line in enumerate(lines)
                )  # fmt: skip
        return ""
