"""A run as data, for the picture that a reader can touch (`distlab.viz.widget`).

One JSON object and a list of columns: numbers lie in typed arrays, which a browser takes as they
are, and strings once each in a table of words. What can be computed from these (who waits for whom
at a moment, say) is computed where it is drawn.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import attrgetter
from typing import Any

import numpy as np

from distlab.records.events import (
    BLOCKING,
    CHANGED,
    FAILED,
    NOT_STARTED,
    RAISED,
    RETURNED,
    RUNNING,
    Event,
    RankRecord,
)
from distlab.records.matching import refused_by_torch
from distlab.records.pairing import Pairs
from distlab.records.reports import RECENT, Report, rate
from distlab.records.wording import call_text, collective_text, standing, summary
from distlab.viz.layout import LEFT, closing, extent, scale_of, stay

VERSION = 1
NOWHERE = -1  # in a column of numbers of events, of collectives or of words
_PROGRESS = {NOT_STARTED: "never started", RUNNING: "did not end", RETURNED: "returned",
             RAISED: "raised"}  # fmt: skip
# bits of the column `flags`
_IS_MESSAGE, _IS_COLLECTIVE, _IS_INTERNAL, _IS_BLOCKING = 1, 2, 4, 8
_IS_REFUSED, _IS_CHANGED, _IS_LIT, _HAS_GIVEN_UP = 16, 32, 64, 128
MOST_LOSSES = 200  # points of a curve
LONGEST_SOURCE = 60_000  # characters of a cell that go along


@dataclass
class Model:
    """`tree` is JSON in which a column stands as {"column": its place in `columns`, "type": …}."""

    tree: dict[str, Any]
    columns: list[np.ndarray[Any, Any]] = field(default_factory=list)

    def add(self, values: Iterable[float], kind: str) -> dict[str, Any]:
        """Note a column of little-endian numbers: "f8", "i4", "u4", "u2" or "u1"."""
        array = np.asarray(values if isinstance(values, np.ndarray) else list(values))
        self.columns.append(array.astype("<" + kind))
        return {"column": len(self.columns) - 1, "type": kind}

    def buffers(self) -> list[bytes]:
        """The columns as they are sent to a front end beside `tree`."""
        return [column.tobytes() for column in self.columns]

    def inline(self) -> dict[str, Any]:
        """Tree and columns as one object for JSON: columns in base64."""
        told = [base64.b64encode(column).decode("ascii") for column in self.buffers()]
        return {**self.tree, "columns": told}


class _Words:
    """Strings, each once, by their number."""

    def __init__(self) -> None:
        self.number: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        return self.number.setdefault(text, len(self.number))


def model(
    records: Sequence[RankRecord],
    pairs: Pairs,
    *,
    title: str | None = None,
    verdict: str = "",
    highlight: Collection[object] = (),
    sources: Mapping[str, str] | None = None,
    reports: Sequence[Sequence[Report]] = (),
    now: float = 0.0,
) -> Model:
    """The data of a run.

    Args:
        pairs: its operations, matched.
        verdict: why it could not end, in words.
        highlight: operations to outline, or ranks to mark.
        sources: the text of files that operations stand in, by their name in the records.
        reports: what each rank reported of its training.
        now: the moment of this look, if the run goes on; 0 if it is over.
    """
    start, horizon = extent(records)
    if now:
        horizon = max(now, start)
    made = Model(
        {
            "version": VERSION,
            "title": _sendable(title or ""),
            "summary": "" if now else _sendable(summary(records, pairs)),
            "verdict": _sendable(verdict),
            "live": bool(now),
            "horizon": horizon - start,
            "ranks": [_rank(record, start, horizon, highlight) for record in records],
        }
    )
    words = _Words()
    words("")
    events = [e for r in records for e in sorted(r.events, key=attrgetter("begin", "index"))]
    ends = {record.rank: closing(record, horizon) for record in records}
    stays = [stay(e, ends[e.rank]) or _NEVER for e in events]
    made.tree["events"] = _events(made, events, stays, records, pairs, words, start, highlight)
    made.tree["collectives"] = [
        {
            "label": words(collective_text(call, len(records))),
            "members": list(call.members),
            "conflict": words(call.conflict),
        }
        for call in pairs.collectives
    ]
    made.tree["held"] = _held(made, events)
    made.tree["training"] = training(made, reports, start, RECENT if now else math.inf)
    made.tree["scale"] = (
        _even_scale(made, horizon - start)
        if now
        else _scale(made, records, pairs, (start, horizon), [s for s in stays if s is not _NEVER])
    )
    files = {e.file for e in events}
    made.tree["sources"] = {
        _sendable(name): _sendable(text[:LONGEST_SOURCE])
        for name, text in (sources or {}).items()
        if name in files
    }
    made.tree["words"] = [_sendable(text) for text in words.number]
    return made


def _sendable(text: str) -> str:
    """Text without lone surrogates, which no front end can be sent."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _rank(
    record: RankRecord, start: float, horizon: float, highlight: Collection[object]
) -> dict[str, Any]:
    over = closing(record, horizon) if record.begin or record.events else 0.0
    return {
        "begin": max(0.0, (record.begin or start) - start),
        "end": max(0.0, over - start),
        "progress": _PROGRESS.get(record.progress, "unknown"),
        "stands": _sendable(standing(record)) if record.stands else "",
        "dropped": record.dropped,
        "lit": record.rank in [one for one in highlight if isinstance(one, int)],
    }


def _events(
    made: Model, events: Sequence[Event], stays: Sequence[tuple[float, float]],
    records: Sequence[RankRecord], pairs: Pairs, words: _Words, start: float,
    highlight: Collection[object],
) -> dict[str, Any]:  # fmt: skip
    column = _columns(events)
    mate, band = _partners(events, pairs)
    note = _notes(events, column["tag"], pairs, words)
    kinds = _Kinds(words, len(records))
    kind = np.array([kinds(e) for e in events], "u4")

    def same(name: str, type_: str) -> dict[str, Any]:
        """A column in which all operations of one kind have the same value."""
        return made.add(np.array([row[name] for row in kinds.rows] or [0])[kind], type_)

    def times(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return np.where(array == 0, math.nan, array - start)

    begins = np.maximum(0.0, column["begin"] - start)
    sat = np.fromiter(chain.from_iterable(stays), "f8", 2 * len(events)).reshape(-1, 2)
    came, went = times(sat[:, 0]), times(sat[:, 1])
    ended = np.where(column["end"] != 0, column["end"], column["wait_end"])
    calls = [math.inf if c.missing else max(e.begin for e in c.calls.values()) - start
             for c in pairs.collectives]  # fmt: skip
    _note_shares(
        made.tree["ranks"], column["rank"], (begins, came, went), mate, np.array(calls), band
    )
    flags = _own_flags(events, column["state"], highlight) | kinds.flags()[kind]
    return {
        "count": len(events),
        "rank": made.add(column["rank"], "u2"),
        "begin": made.add(begins, "f8"),
        "end": made.add(times(ended), "f8"),
        "from": made.add(came, "f8"),
        "until": made.add(went, "f8"),
        "state": made.add(column["state"], "u1"),
        "flags": made.add(flags, "u1"),
        **{name: same(name, "u4") for name in _NAMED},
        "line": same("line", "i4"),
        "peer": same("peer", "i4"),
        "pieces": same("pieces", "u2"),
        "tag": made.add(column["tag"], "i4"),
        "bytes": made.add(column["nbytes"], "f8"),
        "value": made.add(column["value"], "f8"),
        "mate": made.add(mate, "i4"),
        "band": made.add(band, "i4"),
        "note": made.add(note, "u4"),
    }


def _partners(events: Sequence[Event], pairs: Pairs) -> tuple[list[int], list[int]]:
    """Of each operation, the place of its message's other side, and its collective's number."""
    place = {id(e): i for i, e in enumerate(events)}
    mate, band = [NOWHERE] * len(events), [NOWHERE] * len(events)
    for send, receive in pairs.messages:
        if send is not None and receive is not None:
            one, other = place[id(send)], place[id(receive)]
            mate[one], mate[other] = other, one
    for number, call in enumerate(pairs.collectives):
        for event in call.calls.values():
            band[place[id(event)]] = number
    return mate, band


def _notes(
    events: Sequence[Event], tags: np.ndarray[Any, Any], pairs: Pairs, words: _Words
) -> list[int]:
    note = [0] * len(events)
    for i in np.flatnonzero(tags > 0).tolist():
        note[i] = words(events[i].note if events[i].is_named else "")
    where = {(e.rank, e.index): i for i, e in enumerate(events)} if pairs.conflicts else {}
    for key, text in pairs.conflicts.items():
        note[where[key]] = words(text)
    return note


def _own_flags(
    events: Sequence[Event], states: np.ndarray[Any, Any], highlight: Collection[object]
) -> np.ndarray[Any, Any]:
    """The flags that operations of one kind need not share."""
    flags = np.zeros(len(events), "u1")
    for i in np.flatnonzero(states == FAILED).tolist():
        flags[i] = _HAS_GIVEN_UP * events[i].gave_up
    if lit := {(e.rank, e.index) for e in highlight if isinstance(e, Event)}:
        flags |= np.array([_IS_LIT * ((e.rank, e.index) in lit) for e in events], "u1")
    return flags


_NAMED = ("call", "op", "place", "function", "file", "dtype", "shape", "reduction", "group")


_NUMBERS = ("rank", "state", "tag", "nbytes", "begin", "end", "wait_end", "value")
_ALIKE = attrgetter(
    "op", "api", "peer", "flags", "state", "function", "file", "line", "dtype", "shape",
    "reduction", "group", "pieces",
)  # fmt: skip
_NEVER = (0.0, 0.0)  # sat in an operation


def _columns(events: Sequence[Event]) -> dict[str, np.ndarray[Any, Any]]:
    """Numbers of all operations by their name, read in one go."""
    read = chain.from_iterable(map(attrgetter(*_NUMBERS), events))
    rows = np.fromiter(read, "f8", len(_NUMBERS) * len(events)).reshape(-1, len(_NUMBERS))
    return dict(zip(_NUMBERS, rows.T, strict=True))


class _Kinds:
    """What operations of one kind have in common, kept once: even a long run has few kinds."""

    def __init__(self, words: _Words, size: int) -> None:
        self._words, self._size = words, size
        self._number: dict[tuple[object, ...], int] = {}
        self.rows: list[dict[str, int]] = []

    def __call__(self, e: Event) -> int:
        key = (*_ALIKE(e), e.tag and e.is_collective and e.note, e.end == 0)
        number = self._number.get(key)
        if number is None:
            number = self._number[key] = len(self.rows)
            self.rows.append(self._row(e))
        return number

    def _row(self, e: Event) -> dict[str, int]:
        texts = (
            call_text(e), e.op, e.place, e.function, e.file, e.dtype, "×".join(map(str, e.shape)),
            e.reduction, _group(e, self._size),
        )  # fmt: skip
        row = {name: self._words(text) for name, text in zip(_NAMED, texts, strict=True)}
        peer = NOWHERE if e.peer is None else e.peer
        return {**row, "line": e.line, "peer": peer, "pieces": e.pieces, "flags": _flags(e)}

    def flags(self) -> np.ndarray[Any, Any]:
        return np.array([row["flags"] for row in self.rows] or [0], "u1")


def _note_shares(
    ranks: list[dict[str, Any]], number: np.ndarray[Any, Any], times: Sequence[Any],
    mate: Sequence[int], complete: np.ndarray[Any, Any], band: Sequence[int],
) -> None:  # fmt: skip
    """Note of each rank how many seconds it computed, communicated, and waited for others. It waits
    while it sits in an operation that not all the ranks it needs have begun.

    Args:
        number: the rank of each operation.
        times: of each operation, when it began, and from when and until when its rank sat in it.
        mate, band: of each operation, the place of a message's other side, and the number of its
            collective.
        complete: of each collective, when its last member began it.
    """
    for told in ranks:
        told["shares"] = [max(0.0, told["end"] - told["begin"]), 0.0, 0.0]
    if not len(number):
        return
    begins, came, went = times
    sides, bands = np.array(mate), np.array(band)
    met = np.where(sides >= 0, begins[sides], math.inf)
    met = np.where(bands >= 0, np.append(complete, math.inf)[bands], met)
    waits = np.clip(np.minimum(met, went) - came, 0.0, None)
    sat = ~np.isnan(came)
    for rank, told in enumerate(ranks):
        own = sat & (number == rank)
        inside, waited = float((went - came)[own].sum()), float(waits[own].sum())
        told["shares"] = [max(0.0, told["shares"][0] - inside), inside - waited, waited]


def _flags(event: Event) -> int:
    return (
        _IS_MESSAGE * event.is_message
        | _IS_COLLECTIVE * event.is_collective
        | _IS_INTERNAL * event.internal
        | _IS_BLOCKING * bool(event.flags & BLOCKING)
        | _IS_REFUSED * refused_by_torch(event)
        | _IS_CHANGED * bool(event.flags & CHANGED)
    )


def _group(event: Event, size: int) -> str:
    """The members of its group, where they are not all."""
    return ", ".join(map(str, event.group)) if len(event.group) < size else ""


def _held(made: Model, events: Sequence[Event]) -> dict[str, Any]:
    """What tensors held before (0) and after (1) an operation: values, or a norm."""
    found = [
        (number, when, held)
        for number, event in enumerate(events)
        for when, held in enumerate((event.before, event.after))
        if held is not None
    ]
    return {
        "event": made.add((number for number, _, _ in found), "u4"),
        "when": made.add((when for _, when, _ in found), "u1"),
        "norm": made.add((held.norm for _, _, held in found), "f8"),
        "count": made.add((len(held.values) for _, _, held in found), "u1"),
        "values": made.add((value for _, _, held in found for value in held.values), "f8"),
    }


def training(
    made: Model, reports: Sequence[Sequence[Report]], start: float, over: float
) -> dict[str, Any] | None:
    """What ranks reported: the last loss and the images a second of each, and the curve of the
    first rank that reported a loss, with at most `MOST_LOSSES` points; None if none reported.
    """
    if not any(reports):
        return None
    told = [[report for report in own if report.loss is not None] for own in reports]
    ranks = [
        {
            "loss": _loss(own),
            "rate": None if math.isnan(speed := rate(every, over)) else speed,
            "images": sum(report.images for report in every),
            "reports": len(every),
        }
        for every, own in zip(reports, told, strict=True)
    ]
    whose = next((rank for rank, own in enumerate(told) if own), 0)
    step = -(-len(told[whose]) // MOST_LOSSES) or 1
    curve = told[whose][::-step][::-1]
    return {
        "ranks": ranks,
        "whose": whose,
        "time": made.add((report.time - start for report in curve), "f8"),
        "loss": made.add((report.loss or 0.0 for report in curve), "f8"),
    }


def _loss(told: Sequence[Report]) -> float | str | None:
    """The last loss as JSON can hold it: NaN and infinity as text."""
    last = told[-1].loss if told else None
    return last if last is None or math.isfinite(last) else str(last)


def _even_scale(made: Model, seconds: float) -> dict[str, Any]:
    """The scale of a run that goes on: linear."""
    return {
        "time": made.add((0.0, max(seconds, 1e-9)), "f8"),
        "at": made.add((0.0, 1.0), "f8"),
        "breaks": [],
        "linear": True,
    }


def _scale(
    made: Model, records: Sequence[RankRecord], pairs: Pairs, span: tuple[float, float],
    busy: Sequence[tuple[float, float]],
) -> dict[str, Any]:  # fmt: skip
    """Where moments stand in the whole picture, from 0 to 1: knots, linear between two of them."""
    start, horizon = span
    scale = scale_of(records, pairs, horizon, busy, LEFT, 900.0)
    times, pixels = scale.knots
    return {
        "time": made.add((time - start for time in times), "f8"),
        "at": made.add(((x - pixels[0]) / (scale.width or 1.0) for x in pixels), "f8"),
        "breaks": [[a - start, b - start] for a, b in scale.breaks],
        "linear": scale.linear,
    }
