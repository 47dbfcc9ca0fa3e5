"""What a figure of matplotlib's shows, in words, for those who can't see it.

A front end of Jupyter shows a figure as a bare image, and says nothing of what metadata calls its
alternative text. So a figure is shown as HTML that has one; the image stays beside it for whatever
else reads the output.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST = 16  # bars, lines or words in a chart that are told one by one
_NUMBERS = int, float, np.number


def bundle(figure: Figure) -> tuple[dict[str, str], dict[str, Any]]:
    """What IPython shows of a figure beside its image: HTML, and metadata of the image."""
    from IPython.core.getipython import get_ipython

    shell: Any = get_ipython()
    try:  # not by IPython, which tells what a figure raises when it draws it itself
        drawn = shell.display_formatter.formatters["image/png"].lookup(figure)(figure)
    except Exception:  # a terminal, a student's choice of another format, or what cannot be drawn
        drawn = None
    if not drawn:
        return {}, {}
    image, size = drawn if isinstance(drawn, tuple) else (drawn, {})
    try:
        alt = of(figure)
    except Exception:  # a student may draw anything; what shows it does not fail for want of words
        alt = "A figure."
    sides = "".join(f' {side}="{size[side]}"' for side in ("width", "height") if side in size)
    html = f'<img src="data:image/png;base64,{image.strip()}" alt="{escape(alt)}"{sides}>'
    return {"text/html": html}, {"image/png": {**size, "alt": alt}}


def of(figure: Figure) -> str:
    """What is to be seen: each chart's title and axes, where its lines begin and end, how long its
    bars are, and the words in it. A label that an author gave the figure comes first.
    """
    charts = [words for axis in figure.axes if (words := " ".join(_told(axis)))]
    many = len(charts) > 1
    numbered = [f"({n}) {words}" if many else words for n, words in enumerate(charts, 1)]
    marks = [_text(text) for legend in figure.legends for text in legend.get_texts()]
    first = [_text(figure.get_label()), _text(figure.get_suptitle())]
    said = [
        *(f"{words}." for words in first if words),
        f"{len(charts)} charts." if many else "A chart.",
        *numbered,
        *_listed("Legend", [mark for mark in marks if mark not in " ".join(charts)]),
    ]
    return " ".join(said)


def _told(axis: Axes) -> Iterator[str]:
    """A chart in a few sentences."""
    if not axis.get_visible():
        return
    across, up = _text(axis.get_xlabel()), _text(axis.get_ylabel())
    titles = axis.get_title("left"), axis.get_title(), axis.get_title("right")
    title = _text(" ".join(titles))
    scales = f"{up} over {across}" if up and across else up or across
    if title or scales:
        yield f"{': '.join(filter(None, (title, scales)))}."
    names, caps = _names(axis), _caps(axis)
    lines = [line for line in axis.lines if line.get_transform() == axis.transData]
    drawn = [_line(line, names.pop(line, "a line")) for line in lines if line not in caps]
    yield from _listed("Lines", drawn)
    bars, inside = _bars(axis)
    yield from _listed("Bars", bars)
    if not bars:
        yield from _listed("Rows", _ticks(axis.yaxis).values())
    for image in axis.images:
        high, wide = image.get_size()
        yield f"A grid of {high} by {wide} fields."
    legend = axis.get_legend()
    marks = [_text(text) for text in legend.get_texts()] if legend else list(names.values())
    told = " ".join([*drawn, *bars])
    what = "Legend" if legend else "Parts"  # with labels that no legend shows
    yield from _listed(what, [mark for mark in marks if mark not in told])
    yield from _listed("Written in it", [_text(one) for one in axis.texts if one not in inside])


def _listed(what: str, found: Iterable[str]) -> list[str]:
    found = [one for one in dict.fromkeys(found) if one]
    if len(found) > MOST:
        return [f"{what}: {len(found)}."]
    return [f"{what}: {'; '.join(found)}."] if found else []


def _names(axis: Axes) -> dict[Any, str]:
    """What the parts of a chart are called in its legend; a line with error bars is one part."""
    handles, labels = axis.get_legend_handles_labels()
    parts = (handle[0] if isinstance(handle, tuple) else handle for handle in handles)
    return {part: _text(label) for part, label in zip(parts, labels, strict=True)}


def _caps(axis: Axes) -> list[Any]:
    """The ends of error bars, which are lines too."""
    from matplotlib.container import ErrorbarContainer

    bars = (one for one in axis.containers if isinstance(one, ErrorbarContainer))
    return [cap for container in bars for cap in container[1]]


def _line(line: Any, name: str) -> str:
    xs, ys = line.get_xdata(), line.get_ydata(orig=False)
    points = [(x, float(y)) for x, y in zip(xs, ys, strict=True) if np.isfinite(y)]
    if not points:
        return ""
    (begin, first), (end, last) = points[0], points[-1]
    said = f"{name}: {_number(first)} at {_number(begin)}"
    if len(points) == 1:
        return said
    low, high = (extreme(y for _, y in points) for extreme in (min, max))
    between = [f"lowest {_number(low)}"] * (low < min(first, last))
    between += [f"highest {_number(high)}"] * (high > max(first, last))
    return ", ".join([said, *between, f"{_number(last)} at {_number(end)}"])


def _bars(axis: Axes) -> tuple[list[str], list[Any]]:
    """Each bar's name or place, what is written in it, and its length, or where there are many, how
    many of a name; and the texts that are in bars.
    """
    from matplotlib.container import BarContainer

    told, inside = defaultdict(list), []
    for container in axis.containers:
        if not isinstance(container, BarContainer):
            continue
        lying = container.orientation == "horizontal"
        names = _ticks(axis.yaxis if lying else axis.xaxis)
        for bar in container:
            (x, y), wide, high = bar.get_xy(), bar.get_width(), bar.get_height()
            place, begin, long = (y + high / 2, x, wide) if lying else (x + wide / 2, y, high)
            texts = [one for one in axis.texts if _is_in(one, x, x + wide, y, y + high)]
            inside += texts
            name = names.get(round(place, 3)) or bar.get_label()
            told["" if name[:1] == "_" else name].append((place, begin, begin + long, texts))
    if sum(map(len, told.values())) > MOST:
        ends = (
            (name, min(b[1] for b in bars), max(b[2] for b in bars)) for name, bars in told.items()
        )
        return [
            f"{name or 'bars'}: {len(told[name])} from {_number(low)} to {_number(high)}"
            for name, low, high in ends
        ], inside
    return [
        f"{' '.join([name or f'at {_number(place)}', *map(_text, texts)])}: {_length(*ends)}"
        for name, bars in told.items()
        for place, *ends, texts in bars
    ], inside


def _length(begin: float, end: float) -> str:
    return f"{_number(begin)} to {_number(end)}" if begin else _number(end)


def _is_in(text: Any, left: float, right: float, low: float, high: float) -> bool:
    x, y = getattr(text, "xy", text.get_position())  # an annotation is beside what it is about
    inside = isinstance(x, _NUMBERS) and isinstance(y, _NUMBERS)
    return inside and left <= x <= right and low <= y <= high


def _ticks(scale: Any) -> Mapping[float, str]:
    """The names along an axis, by their places; nothing where these are numbers."""
    labels = (_text(label) for label in scale.get_ticklabels())
    named = dict(zip((round(place, 3) for place in scale.get_ticklocs()), labels, strict=False))
    return named if any(map(_is_word, named.values())) else {}


def _is_word(text: str) -> bool:
    return bool(re.search(r"[^\W\d_]{2}", text)) and "math" not in text


def _number(value: Any) -> str:
    if not isinstance(value, _NUMBERS):
        return _text(str(value))
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.3g}"


def _text(of_figure: Any) -> str:
    """A text of a figure's as one line."""
    words = of_figure if isinstance(of_figure, str) else of_figure.get_text()
    return " ".join(words.split())
