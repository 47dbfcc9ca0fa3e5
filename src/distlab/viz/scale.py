"""Where a moment stands on paper: time in seconds to pixels.

Runs are awkward to draw: messages of microseconds amid seconds of computing. The scale is linear
where the picture can be read so. Long stretches in which nothing is under way are cut, with a mark;
and in a small run whose steps would lie on top of each other, short steps are drawn wider.
"""

from __future__ import annotations

import heapq
import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence

from distlab.records.wording import unit_of

BREAK = 34.0  # pixels that a cut-out stretch takes
_SHARE = 0.5  # an idle stretch that takes more than this part of the time is cut out

Need = tuple[float, float, float]  # from, to (seconds), pixels that should lie between them
Breaks = Sequence[tuple[float, float]]  # from, to (seconds) of stretches that are cut out


class Scale:
    """A monotone map from seconds to pixels.

    Attributes:
        begin, end: the first and the last moment, in seconds.
        linear: equal times have equal widths everywhere but in `breaks`.
        breaks: the stretches cut out, as (from, to) in seconds.
    """

    def __init__(
        self, times: Sequence[float], pixels: Sequence[float], linear: bool,
        breaks: Breaks = (),
    ) -> None:  # fmt: skip
        self._times, self._pixels = list(times), list(pixels)
        self.begin, self.end = self._times[0], self._times[-1]
        self.linear, self.breaks = linear, list(breaks)

    def __call__(self, time: float) -> float:
        return _between(self._times, self._pixels, time)

    def time(self, x: float) -> float:
        """The moment drawn at pixel `x`."""
        return _between(self._pixels, self._times, x)

    @property
    def knots(self) -> tuple[list[float], list[float]]:
        """Seconds and their pixels; between two of them the scale is linear."""
        return self._times, self._pixels

    @property
    def width(self) -> float:
        return self._pixels[-1] - self._pixels[0]

    def ticks(self, apart: float = 95.0) -> list[tuple[float, str]]:
        """(pixel, label) of round times since the beginning, some `apart` pixels apart."""
        if self.end <= self.begin:
            return [(self._pixels[0], "0")]
        if self.linear:
            cut = sum(b - a for a, b in self.breaks)
            drawn = self.width - BREAK * len(self.breaks)
            step = _round((self.end - self.begin - cut) * apart / drawn)
            size = self.end - self.begin - cut
            return [(x, _label(t, step, max(size, t))) for x, t in self._even(step)]
        # where times are of very different sizes, each has its own unit, and no zeros at its end
        return [(x, _shortest(_label(t, step, t))) for x, t, step in self._uneven(apart)]

    def _even(self, step: float) -> list[tuple[float, float]]:
        """Multiples of `step` outside the breaks."""
        edges = [self.begin, *(t for pair in self.breaks for t in pair), self.end]
        found = []
        for a, b in zip(edges[::2], edges[1::2], strict=True):
            first = math.ceil((a - self.begin) / step - 1e-9)
            last = math.floor((b - self.begin) / step + 1e-9)
            found += [(self(self.begin + i * step), i * step) for i in range(first, last + 1)]
        return found

    def _uneven(self, apart: float) -> list[tuple[float, float, float]]:
        left, found = self._pixels[0], [(self._pixels[0], 0.0, 1.0)]
        for i in range(1, int(self.width / apart) + 1):
            low, high = (self.time(left + i * apart + d) - self.begin for d in (-14, 14))
            if high <= low:
                continue
            # three digits are enough, also where a pixel is a microsecond
            step = max(_round((high - low) / 2, down=True), _round(high / 200, down=True))
            time = round((low + high) / 2 / step) * step
            x = self(self.begin + time)
            cut = any(a < self.begin + time < b for a, b in self.breaks)
            if not cut and 0 < time < self.end - self.begin and x - found[-1][0] > apart * 0.6:
                found.append((x, time, step))
        return found


def fit(
    times: Iterable[float], busy: Iterable[tuple[float, float]], needs: Sequence[Need],
    left: float, right: float, stretch: bool,
) -> Scale:  # fmt: skip
    """The plainest scale on which a run can be read.

    Args:
        times: every moment at which something begins or ends, in seconds.
        busy: stretches that are never cut out, as (from, to).
        needs: what a linear scale must offer, or a stretched one tries to.
        left, right: pixels of the first and the last moment.
        stretch: draw short steps wider where a linear scale does not meet `needs`.
    """
    moments = sorted(set(times))
    if len(moments) < 2:
        start = moments[0] if moments else 0.0
        return Scale([start, start + 1e-6], [left, right], True)
    breaks = idle(moments, list(busy), most=int((right - left) / 2 / BREAK))
    scale = _linear(moments, breaks, left, right)
    if stretch and any(scale(b) - scale(a) < 0.6 * pixels for a, b, pixels in needs):
        return _stretched(moments, breaks, needs, left, right)
    return scale


def idle(
    moments: Sequence[float], busy: Sequence[tuple[float, float]], most: int
) -> list[tuple[float, float]]:
    """The stretches between two moments that are so long that they would hide the rest, `most` of
    them at most. The shortest stretch is never among them: something has to be left to draw.
    """
    most = min(most, len(moments) - 2)
    gaps = zip(moments, moments[1:], strict=False)
    left, found = moments[-1] - moments[0], []
    for a, b in heapq.nsmallest(most, gaps, key=lambda g: g[0] - g[1]):
        if b - a <= _SHARE * left:
            break
        if not any(x < b and a < y for x, y in busy) and len(moments) > 3:
            found.append((a, b))
            left -= b - a
    return sorted(found)


def _linear(moments: Sequence[float], breaks: Breaks, left: float, right: float) -> Scale:
    knots = sorted({moments[0], moments[-1], *(t for pair in breaks for t in pair)})
    cut = set(breaks)
    total = sum(b - a for a, b in zip(knots, knots[1:], strict=False) if (a, b) not in cut)
    per_second = (right - left - BREAK * len(breaks)) / (total or 1.0)
    pixels = [left]
    for a, b in zip(knots, knots[1:], strict=False):
        pixels.append(pixels[-1] + (BREAK if (a, b) in cut else (b - a) * per_second))
    return Scale(knots, pixels, True, breaks)


def _stretched(
    moments: Sequence[float], breaks: Breaks, needs: Sequence[Need], left: float, right: float
) -> Scale:
    """Each step gets a little width, what it needs, and a part of the rest by its length's root."""
    index = {t: i for i, t in enumerate(moments)}
    wanted: dict[int, list[tuple[int, float]]] = {}
    for a, b, apart in needs:
        if a in index and b in index and a < b:
            wanted.setdefault(index[b], []).append((index[a], apart))
    width, cut = right - left, {index[a] for a, _ in breaks}
    least = min(9.0, 0.3 * width / len(moments))
    for ease in (1.0, 0.85, 0.7, 0.55, 0.4, 0.25, 0.1, 0.0):
        pixels = [0.0]
        for i in range(1, len(moments)):
            ends = [pixels[j] + ease * p for j, p in wanted.get(i, ())]
            pixels.append(max([pixels[-1] + (BREAK if i - 1 in cut else least), *ends]))
        if pixels[-1] <= width:
            break
    roots = [
        0.0 if i in cut else math.sqrt(b - a)
        for i, (a, b) in enumerate(zip(moments, moments[1:], strict=False))
    ]
    spare, total, x = width - pixels[-1], sum(roots) or 1.0, left
    placed = [left]
    for i, root in enumerate(roots):
        x += pixels[i + 1] - pixels[i] + spare * root / total
        placed.append(x)
    return Scale(moments, placed, False, breaks)


def _between(xs: Sequence[float], ys: Sequence[float], x: float) -> float:
    if x <= xs[0]:
        return ys[0]
    if x >= xs[-1]:
        return ys[-1]
    i = bisect_right(xs, x)
    return ys[i - 1] + (ys[i] - ys[i - 1]) * (x - xs[i - 1]) / (xs[i] - xs[i - 1])


def _round(value: float, down: bool = False) -> float:
    """A number 1, 2 or 5 times a power of ten: the next above `value`, or the next below."""
    power = 10.0 ** math.floor(math.log10(value))
    steps = [f * power for f in (1, 2, 5, 10)]
    if down:
        return max(s for s in steps if s <= value * (1 + 1e-9))
    return min(s for s in steps if s >= value * (1 - 1e-9))


def _shortest(label: str) -> str:
    """Without zeros behind the decimal point: "5.0 ms" is "5 ms"."""
    number, space, unit = label.partition(" ")
    return f"{number.rstrip('0').rstrip('.') if '.' in number else number}{space}{unit}"


def _label(time: float, step: float, size: float) -> str:
    """A time with as many decimals as its `step` has, in the unit that suits `size`."""
    if not time:
        return "0"
    factor, unit = unit_of(size)
    decimals = max(0, -math.floor(math.log10(step * factor) + 1e-9))
    return f"{time * factor:.{decimals}f} {unit}"
