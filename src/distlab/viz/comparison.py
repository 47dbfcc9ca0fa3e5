"""Two runs beside each other, aligned by operation: where they part, what became faster, what is
missing.

    before, after = ranks.run(blocking), ranks.run(overlapping)
    after.compare(before)

Of each rank the operations of both runs are aligned as lines of two texts are: what both did stands
in one row, what one alone did in a row of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from distlab.records.events import Event, RankRecord
from distlab.records.wording import call_text, duration
from distlab.viz import widget
from distlab.viz.layout import extent, stay
from distlab.viz.picture import page, target
from distlab.viz.run_model import Model
from distlab.viz.timeline import Timeline, sound, timeline
from distlab.viz.widget import kernel

MOST_ALIGNED = 2_000  # operations of a rank, beyond what both begin and end with, that are aligned
MOST_ROWS = 12  # of the still table
NOTHING = -1
#: What differs by less than this part of the longer time, or than this part of the whole run, is
#: told as the same.
NEARLY, SMALL = 0.2, 0.005


class Pair(NamedTuple):
    """What one rank did in both runs, or in one of them alone."""

    rank: int
    before: Event | None
    after: Event | None


@dataclass
class Comparison:
    """Two runs, aligned. In a notebook it shows itself. Made by `compare`.

    Attributes:
        pairs: all operations, rank by rank in order.
        parting: of each rank that did something else in the second run, the first such pair.
    """

    before: Timeline
    after: Timeline
    names: tuple[str, str]
    pairs: list[Pair]
    parting: dict[int, Pair]

    @property
    def summary(self) -> str:
        """In a few sentences where the runs part, and how their times differ."""
        one, other = self.names
        lines = [self._spans()]
        first = _first(self.parting, [self.before.records, self.after.records])
        if first is None:
            lines.append("Their ranks did the same operations in the same order.")
        else:
            lines.append(f"They part first on rank {first.rank}: {self._told(first)}.")
        missing, added = self._alone()
        if missing:
            lines.append(f"{_count(missing)} of {one} {_is(missing)} missing in {other}.")
        if added:
            lines.append(f"{_count(added)} of {other} {_is(added)} not in {one}.")
        return " ".join(lines)

    def _spans(self) -> str:
        """How long both took, as far as they ended."""
        told, spans = [], []
        for name, picture in zip(self.names, (self.before, self.after), strict=True):
            spans.append(_span(picture.records))
            ended = all(record.ended for record in picture.records)
            took = "took" if ended else "did not end; it was ended after"
            told.append((f"{name} {took} {duration(spans[-1])}", ended))
        ratio = _times(*spans) if all(ended for _, ended in told) else ""
        return f"{told[0][0]}, {told[1][0]}{ratio}."

    def _alone(self) -> tuple[int, int]:
        """How many operations the first and the second run have alone."""
        return (
            sum(pair.after is None for pair in self.pairs),
            sum(pair.before is None for pair in self.pairs),
        )

    def _told(self, pair: Pair) -> str:
        one, other = self.names
        did = [
            f"{name} has {call_text(event)} at {event.place}" if event else f"{name} nothing more"
            for name, event in ((one, pair.before), (other, pair.after))
        ]
        return ", ".join(did)

    def rows(self) -> list[tuple[str, ...]]:
        """What differs, as the table of the picture has it: what ended in one run alone, what one
        run has alone, then what took longer or shorter, most first. `head` names the columns.
        """
        return [self._row(pair) for pair in self._different]

    @cached_property
    def _different(self) -> list[Pair]:
        alone = [pair for pair in self.pairs if pair.before is None or pair.after is None]
        both = [pair for pair in self.pairs if pair.before is not None and pair.after is not None]
        stuck = [pair for pair in both if _parts(pair)]
        changed = sorted(
            (pair for pair in both if not _parts(pair) and self._change(pair)),
            key=lambda pair: -abs(_taken(pair)[1] - _taken(pair)[0]),
        )
        return [*stuck, *alone, *changed]

    @cached_property
    def _least(self) -> float:
        """Seconds by which times have to differ."""
        return SMALL * max(_span(self.before.records), _span(self.after.records))

    def _change(self, pair: Pair) -> str:
        """How the time of an operation changed that both runs have; empty where it did not."""
        before, after = _taken(pair)
        if abs(after - before) < self._least or not _differs(before, after):
            return ""
        return "faster" if after < before else "slower"

    def _row(self, pair: Pair) -> tuple[str, ...]:
        one = pair.before or pair.after
        assert one is not None  # a pair has one of them at least
        return (
            str(pair.rank), call_text(one), *(e.place if e else "–" for e in pair[1:]),
            *(_time(e) for e in pair[1:]), self._verdict(pair),
        )  # fmt: skip

    def _verdict(self, pair: Pair) -> str:
        one, other = self.names
        if pair.after is None:
            return f"missing in {other}"
        if pair.before is None:
            return f"only in {other}"
        if _parts(pair):
            return f"never finished in {other if pair.before.done else one}"
        return self._change(pair) or "about the same"

    @property
    def head(self) -> tuple[str, ...]:
        """The columns of `rows`."""
        one, other = self.names
        return (
            "rank", "operation", f"line in {one}", f"line in {other}", f"time in {one}",
            f"time in {other}", "what changed",
        )  # fmt: skip

    def shares(self) -> list[tuple[str, ...]]:
        """For each rank and run how long it computed, communicated and waited for others."""
        rows = []
        models = [picture.model().tree["ranks"] for picture in (self.before, self.after)]
        for rank in range(max(map(len, models))):
            for name, ranks in zip(self.names, models, strict=True):
                if rank < len(ranks):
                    rows.append((str(rank), name, *map(duration, ranks[rank]["shares"])))
        return rows

    def model(self, sources: Mapping[str, str] | None = None) -> Model:
        """Both runs as data with the operations that belong together, for the live picture.

        Args:
            sources: the text of files that operations stand in, by their name in the records.
        """
        models = [
            picture.model(sources or kernel.sources(picture.records))
            for picture in (self.before, self.after)
        ]
        made = Model({
            "kind": "comparison", "names": list(self.names), "summary": self.summary,
            "head": list(self.head), "rows": [list(row) for row in self.rows()],
            "shares": [list(row) for row in self.shares()],
        })  # fmt: skip
        made.tree["runs"] = [_moved(one, made) for one in models]
        places = [_places(picture.records) for picture in (self.before, self.after)]

        def column(pairs: Sequence[Pair], side: int) -> dict[str, Any]:
            events = [pair.after if side else pair.before for pair in pairs]
            return made.add((places[side][e.rank, e.index] if e else NOTHING for e in events), "i4")

        for name, pairs in (("pairs", self.pairs), ("of_rows", self._different)):
            made.tree[name] = [column(pairs, side) for side in (0, 1)]
        return made

    def text(self, width: int = 80) -> str:
        """The comparison in characters: summary and table."""
        rows = [self.head, *self.rows()[:MOST_ROWS]]
        wide = [max(len(row[column]) for row in rows) for column in range(len(self.head))]
        lines = [
            "  ".join(cell.ljust(room) for cell, room in zip(row, wide, strict=True)).rstrip()
            for row in rows
        ]
        return "\n".join([self.summary, "", *lines, *self._more()])

    def _more(self) -> list[str]:
        left = len(self.rows()) - MOST_ROWS
        return [f"and {left} operations more"] if left > 0 else []

    def _still(self) -> str:
        pictures = "".join(
            f"<div style='flex:1 1 380px'>{picture.still()}</div>"
            for picture in (self.before, self.after)
        )
        rows = self.rows()[:MOST_ROWS]
        tables = _table("What differs", self.head, rows) if rows else ""
        more = "".join(f"<p>{escape(line)}</p>" for line in self._more())
        times = ("rank", "run", "computing", "communicating", "waiting")
        shares = _table("What each rank did with its time", times, self.shares())
        return (
            f"<p>{escape(self.summary)}</p><div style='display:flex;flex-wrap:wrap;gap:1em'>"
            f"{pictures}</div>{tables}{more}"
            f"<details><summary>what each rank did with its time</summary>{shares}</details>"
        )

    def save(self, path: str | Path, sources: Mapping[str, str] | None = None) -> Path:
        """Write the comparison to `path`, an .html that can be stepped through.

        Args:
            sources: as for `model`, to be quoted in the page.

        Raises:
            ValueError: another kind of file.
            FileNotFoundError: the folder is not there.
        """
        path = target(path)
        if path.suffix not in (".html", ".htm"):
            raise ValueError(f"{path.name}: a comparison is saved as .html")
        content = widget.embedded("comparison", self._still(), self.model(sources))
        path.write_text(page(" and ".join(self.names), content), encoding="utf-8")
        return path

    def _repr_html_(self) -> str:
        count = sum(len(r.events) for p in (self.before, self.after) for r in p.records)
        return kernel.picture(self._still(), self.model, count)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/html": self._repr_html_(), "text/plain": self.text()}

    def __repr__(self) -> str:
        return self.text()


def compare(
    before: Any, after: Any, names: tuple[str, str] = ("before", "after"), *,
    part: tuple[Event | None, Event | None] | None = None,
) -> Comparison:  # fmt: skip
    """Set two runs beside each other, aligned by operation.

    Args:
        before: what `Ranks.run` returned, or all records of a run.
        after: the same of the other run.
        names: what to call the two.
        part: the operations at which they part, where that is known; else it is found.

    Raises:
        ValueError: the two have the same name.
    """
    if names[0] == names[1]:
        raise ValueError(f"both runs are called {names[0]!r}: give them two names")
    records = [list(map(sound, getattr(run, "records", run))) for run in (before, after)]
    pairs = [pair for rank in range(max(map(len, records))) for pair in _aligned(rank, records)]
    parting: dict[int, Pair] = {}
    for pair in pairs:
        if pair.rank not in parting and _parts(pair):
            parting[pair.rank] = _both_sides(pair, records)
    found = _first(parting, records)
    marked = part or (found and found[1:]) or (None, None)
    pictures = [
        timeline(one, title=name, highlight=[event] if event else None, width=560,
                 verdict=_verdict_of(run))
        for one, name, event, run in zip(records, names, marked, (before, after), strict=True)
    ]  # fmt: skip
    return Comparison(pictures[0], pictures[1], names, pairs, parting)


def _verdict_of(run: Any) -> str:
    done = getattr(run, "run", run)
    found = getattr(done, "finding", None) or getattr(done, "hindsight", None)
    return str(getattr(found, "message", ""))


def _aligned(rank: int, records: Sequence[Sequence[RankRecord]]) -> list[Pair]:
    """The operations of one rank in both runs, in order."""
    one, other = (_own(of, rank) for of in records)
    keys = [[_key(event) for event in events] for events in (one, other)]
    pairs, (i, j) = [], (0, 0)
    for a, b, length in _matches(*keys):
        pairs += [Pair(rank, event, None) for event in one[i:a]]
        pairs += [Pair(rank, None, event) for event in other[j:b]]
        pairs += [Pair(rank, one[a + k], other[b + k]) for k in range(length)]
        i, j = a + length, b + length
    return pairs


def _matches(one: Sequence[Any], other: Sequence[Any]) -> list[tuple[int, int, int]]:
    """Blocks that are equal in both: where in one, where in the other, how many elements. The last
    block is empty, at both ends.
    """
    head = _same(one, other, len(one), len(other))
    tail = _same(one[::-1], other[::-1], len(one) - head, len(other) - head)
    a, b = one[head : len(one) - tail], other[head : len(other) - tail]
    middle: list[tuple[int, int, int]] = []
    if max(len(a), len(b)) <= MOST_ALIGNED:
        middle = [(head + i, head + j, 1) for i, j in _common(a, b)]
    ends = [(len(one) - tail, len(other) - tail, tail), (len(one), len(other), 0)]
    return [(0, 0, head), *middle, *ends]


def _common(one: Sequence[Any], other: Sequence[Any]) -> list[tuple[int, int]]:
    """A longest common subsequence, as places in both, in order; of several the earliest.

    Each row of the usual table is the bits of one integer (Hyyrö, 2004), so that the time hardly
    depends on what is in the two: `difflib` takes minutes over a thousand steps of a loop.
    """
    one, other = one[::-1], other[::-1]
    where: dict[Any, int] = defaultdict(int)
    for place, key in enumerate(one):
        where[key] |= 1 << place
    row = every = (1 << len(one)) - 1
    rows = []
    for key in other:
        equal = row & where.get(key, 0)
        row = (row + equal | row - equal) & every
        rows.append(row)
    found, i, j = [], len(one), len(other)
    while i and j:
        if one[i - 1] == other[j - 1]:
            found.append((len(one) - i, len(other) - j))
            i, j = i - 1, j - 1
        elif rows[j - 1] >> (i - 1) & 1:  # the subsequence is as long without this one
            i -= 1
        else:
            j -= 1
    return found


def _same(one: Sequence[Any], other: Sequence[Any], most: int, of_other: int) -> int:
    """How many elements at the beginning are equal, of the first `most` of one and the first
    `of_other` of the other.
    """
    count, most = 0, min(most, of_other)
    while count < most and one[count] == other[count]:
        count += 1
    return count


def _own(records: Sequence[RankRecord], rank: int) -> list[Event]:
    return list(records[rank].events) if rank < len(records) else []


def _key(event: Event) -> tuple[object, ...]:
    """What makes two operations of a rank the same: not its line, nor how it is waited for."""
    return event.op, event.peer, event.group, event.tag, event.shape, event.dtype, event.reduction


def _parts(pair: Pair) -> bool:
    """Do the runs part here: has one of them alone this operation, or alone ended it?"""
    if pair.before is None or pair.after is None:
        return True
    return pair.before.done != pair.after.done


def _both_sides(pair: Pair, records: Sequence[Sequence[RankRecord]]) -> Pair:
    """The operations at which the two runs part, where one has an operation that the other lacks:
    what each of them has there.
    """
    if pair.before is not None and pair.after is not None:
        return pair
    one, other = (_own(of, pair.rank) for of in records)
    at = _same([_key(e) for e in one], [_key(e) for e in other], len(one), len(other))
    return Pair(pair.rank, *(own[at] if at < len(own) else None for own in (one, other)))


def _first(parting: dict[int, Pair], records: Sequence[Sequence[RankRecord]]) -> Pair | None:
    """Where the runs part first, by the time since their begin."""
    begins = [extent(of)[0] for of in records]

    def moment(pair: Pair) -> float:
        times = [event.begin - begin
                 for event, begin in zip(pair[1:], begins, strict=True) if event]  # fmt: skip
        return min(times)

    return min(parting.values(), key=moment, default=None)


def _places(records: Sequence[RankRecord]) -> dict[tuple[int, int], int]:
    """The place of each operation in the columns of `run_model`, by rank and index."""
    events = [e for r in records for e in sorted(r.events, key=lambda e: (e.begin, e.index))]
    return {(event.rank, event.index): place for place, event in enumerate(events)}


def _moved(run: Model, into: Model) -> dict[str, Any]:
    """Append a run's columns to those of another model; returns its tree with their new places."""
    first = len(into.columns)
    into.columns += run.columns

    def moved(value: Any) -> Any:
        if isinstance(value, dict):
            changed = {key: moved(one) for key, one in value.items()}
            if set(value) == {"column", "type"}:
                changed["column"] = value["column"] + first
            return changed
        return value

    return {name: moved(value) for name, value in run.tree.items()}


def _span(records: Sequence[RankRecord]) -> float:
    first, last = extent(records)
    return last - first


def _times(before: float, after: float) -> str:
    if not _differs(before, after) or min(before, after) <= 0:
        return ", about as long"
    if after < before:
        return f", {before / after:.3g} times as fast"
    return f", {after / before:.3g} times as long"


def _taken(pair: Pair) -> tuple[float, float]:
    """Seconds that the rank sat in it, in both runs."""
    return tuple(_seconds(event) for event in pair[1:])  # type: ignore[return-value]


def _seconds(event: Event | None) -> float:
    if event is None or not event.done:
        return 0.0
    sat = stay(event, event.end)
    return sat[1] - sat[0] if sat else event.end - event.begin


def _time(event: Event | None) -> str:
    if event is None:
        return "–"
    return duration(_seconds(event)) if event.done else "never finished"


def _differs(before: float, after: float) -> bool:
    return abs(after - before) > NEARLY * max(before, after)


def _count(number: int) -> str:
    return f"{number} operation" + "s" * (number != 1)


def _is(number: int) -> str:
    return "is" if number == 1 else "are"


def _table(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    left = "style='text-align:left'"
    top = "".join(f"<th scope='col' {left}>{escape(name)}</th>" for name in head)
    body = "".join(
        "<tr>" + "".join(f"<td {left}>{escape(cell)}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return (
        f"<table><caption {left}>{escape(caption)}</caption><thead><tr>{top}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )
