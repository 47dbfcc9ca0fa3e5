"""Records read back, whole or as they grow, from files that ranks may have tampered with."""

from __future__ import annotations

import contextlib
import functools
import io
import re
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from distlab.processes.untrusted import plain_file
from distlab.records.events import (
    ANY_SOURCE,
    BESIDE,
    BESIDE_AT,
    CAPACITY,
    DONE,
    DTYPES,
    ENTRY,
    FAILED,
    GIVEN,
    GIVEN_GROUPS,
    HEADER,
    HEADER_BYTES,
    MOST_RANKS,
    OPS,
    PACK,
    POSTED,
    RAISED,
    REDUCTIONS,
    ROOTED,
    RUNNING,
    SEEN,
    SEEN_AT,
    STOPPED,
    WORLD,
    Event,
    RankRecord,
)

_RANGE = re.compile(r"(\d+)-(\d+)(?:/([1-9]\d*))?")
_IDENTIFIER = re.compile(r"[\w.<>]*")


def _members(text: str, size: int) -> tuple[int, ...]:
    """The ranks that `events.members_text` wrote down. Of a group with a rank that is not there,
    that rank is enough: thousands of such groups of thousands of ranks would take all memory.
    """
    if found := _RANGE.fullmatch(text):
        first, last, step = (int(number or 1) for number in found.groups())
        return tuple(range(first, last + 1, step)) if last < size else (last,)
    return tuple(int(part) for part in text.split(",") if part.isdecimal())


def read(source: str | Path | bytes) -> RankRecord:
    """The record of one rank as it is now, from its file or from bytes that `trimmed` gave.

    The rank may be running. What a hostile rank has scribbled into it can be wrong but never runs.

    Raises:
        ValueError: it is no record.
    """
    data = source if isinstance(source, bytes) else _prefix(source)
    if len(data) < HEADER_BYTES:
        raise ValueError("too short for a record")
    rank, size, count, progress, *state = HEADER.unpack_from(data)
    if not 0 <= rank < max(size, 1) or size > MOST_RANKS or not count >= 0:
        raise ValueError("not a record")
    there = min(count, CAPACITY, (len(data) - HEADER_BYTES) // ENTRY.itemsize)
    record = RankRecord(rank, size, dropped=count - there)
    _set_state(record, progress, *state)
    if not record.ended:
        _set_seen(record, *SEEN.unpack_from(data, SEEN_AT))
    record.beside = _beside(*BESIDE.unpack_from(data, BESIDE_AT))
    rows = memoryview(data)[HEADER_BYTES : HEADER_BYTES + there * ENTRY.itemsize]
    _append(record, 0, rows, {WORLD: tuple(range(size))})
    if record.stopped:
        _forget_after(record, record.stopped)
    return record


def _set_state(
    record: RankRecord,
    progress: int,
    begin: float,
    end: float,
    goes_on: int,
    stopped: float,
    offset: float,
) -> None:
    record.progress = progress if 0 <= progress <= RAISED else RUNNING
    record.offset = offset
    record.agents, record.pending = goes_on & 0xFFFF, goes_on >> 16 & 0x7FFF
    record.begin, record.end = _moved(offset, begin, end)
    record.stopped = stopped


def _beside(line: int, function: bytes, kind: bytes, text: bytes) -> dict[str, Any] | None:
    if not (name := _name(kind)):
        return None
    place = {"function": _name(function), "line": line, "file": "", "text": ""}
    message = text.rstrip(b"\0").decode("utf-8", "replace")
    return {"type": name, "message": message, "frames": [place] if line > 0 else []}


def _set_seen(record: RankRecord, line: int, function: bytes, called: bytes, stands: bool) -> None:
    place = f"{_name(function)}:{line}" if line > 0 else ""
    if stands and place:
        record.stands, record.stands_in = place, _name(called)
    else:
        record.computes = place


def _moved(offset: float, *times: float) -> Sequence[float]:
    """Times on the watcher's clock; one that is not known stays 0."""
    return [time and time + offset for time in times] if offset else times


def _forget_after(record: RankRecord, moment: float) -> None:
    """Undo what a rank wrote after its run was ended, because others were killed before it: that
    operations failed, that it went on to others, that its function ended.
    """
    if record.end > moment:
        record.progress, record.end = RUNNING, 0.0
    record.events = [event for event in record.events if event.begin <= moment]
    for event in record.events:
        if event.end > moment:
            event.state, event.end = POSTED, 0.0
        if event.wait_end > moment:
            event.wait_end = 0.0
        if event.wait_begin > moment:
            event.wait_begin = 0.0


def checked(data: bytes, rank: int, size: int) -> RankRecord:
    """The record of a rank as it came from an untrusted process, without impossible events."""
    try:
        told = HEADER.unpack_from(data)[:2]
        record = read(data) if told == (rank, size) else RankRecord(rank, size)
    except (ValueError, struct.error):
        return RankRecord(rank, size)
    if not (_is_time(record.begin) and _is_time(record.end)):
        record.begin = record.end = 0.0
    record.events = [event for event in record.events if _is_possible(event, size)]
    return record


def _is_possible(event: Event, size: int) -> bool:
    moments = (
        event.begin, event.end, event.wait_begin, event.wait_end, event.until, event.polled,
    )  # fmt: skip
    counts = (event.tag, event.nbytes, event.line, *event.shape)
    if event.is_message or event.op in ROOTED:
        peers = -1 if event.op == "recv" and event.flags & ANY_SOURCE else 0, size
        known = peers[0] <= (-1 if event.peer is None else event.peer) < peers[1]
    else:
        known = True
    return (
        known
        and event.state in (POSTED, DONE, FAILED)
        and min(counts) >= 0
        and all(map(_is_time, moments))
        and all(0 <= member < size for member in event.group)
    )


def _is_time(seconds: float) -> bool:
    """Can this be a time of the machine's monotonic clock? (False for NaN.)"""
    return 0.0 <= seconds < 1e10


class Follower:
    """The record of a rank that is running, read a bit further at each look.

    A look costs time in what is new and in what was unfinished at the last look, not in all that is
    there. The events of all looks are the same objects, brought up to date.
    """

    def __init__(self, path: str | Path, rank: int, size: int) -> None:
        self._path = path
        self._record = RankRecord(rank, size)
        self._rows = 0
        self._unfinished: list[Event] = []
        self._groups = {WORLD: tuple(range(size))}

    def look(self) -> RankRecord:
        """What is there now; an empty record where there is none, or none of this rank."""
        record = self._record
        try:
            with plain_file(self._path) as file:
                rank, size, count, *state = HEADER.unpack(file.read(HEADER.size))
                record.offset = state[-1]
                if (rank, size) != (record.rank, record.size) or count < self._rows:
                    return record
                self._refresh(file)
                there = min(count, CAPACITY)
                rows = self._read(file, self._rows, there)
        except (OSError, struct.error):
            return record
        known = len(record.events)
        _append(record, self._rows, rows, self._groups)
        self._unfinished += filter(_may_change, record.events[known:])
        self._rows += len(rows) // ENTRY.itemsize
        _set_state(record, *state)
        record.dropped = count - self._rows
        return record

    def _read(self, file: io.FileIO, first: int, end: int) -> bytes:
        file.seek(HEADER_BYTES + first * ENTRY.itemsize)
        data = file.read((end - first) * ENTRY.itemsize)
        return data[: len(data) // ENTRY.itemsize * ENTRY.itemsize]

    def _refresh(self, file: io.FileIO) -> None:
        """Bring the unfinished events up to date."""
        unfinished = self._unfinished
        if not unfinished:
            return
        first, end = unfinished[0].index, unfinished[-1].index + 1
        scattered = end - first > 16 * len(unfinished)
        block = b"" if scattered else self._read(file, first, end)
        for event in unfinished:
            offset = 0 if scattered else (event.index - first) * PACK.size
            row = self._read(file, event.index, event.index + 1) if scattered else block
            if len(row) < offset + PACK.size:
                return
            values = PACK.unpack_from(row, offset)
            event.flags, event.peer = values[2] | values[-4] << 8, _peer(values[5])
            event.thread, event.polls, event.seen = values[-5], *values[-3:-1]
            moved = _moved(self._record.offset, *values[19:22], values[-6], values[-1])
            event.end, event.wait_begin, event.wait_end, event.until, event.polled = moved
            event.value = values[22]
            event.state = values[0]
        self._unfinished = [event for event in unfinished if _may_change(event)]


def _may_change(event: Event) -> bool:
    """Is it unfinished? An operation whose wait timed out can be waited for again."""
    return event.state == POSTED or bool(event.state == FAILED and event.until)


def _peer(number: int) -> int | None:
    return number if number >= 0 else None


def _append(
    record: RankRecord, first: int, rows: bytes | memoryview, groups: dict[int, tuple[int, ...]]
) -> None:
    for index, row in enumerate(PACK.iter_unpack(rows), first):
        if row[0] and row[1] < len(OPS):
            event = _event(record, index, row, groups)
            if event.op == "new_group" and event.flags & GIVEN:
                number = GIVEN_GROUPS + record.alike[event.group]
                record.alike[event.group] += 1
                record.given[event.group_index] = event.group, number
            else:
                record.events.append(event)


@functools.lru_cache(4096)
def _text(field: bytes) -> str:
    return field.rstrip(b"\0").decode("utf-8", "replace")


@functools.lru_cache(4096)
def _name(field: bytes) -> str:
    return plain_name(_text(field))


def plain_name(text: str) -> str:
    """A Python name; "?" for anything else, which only a rank itself can have scribbled there."""
    return text if _IDENTIFIER.fullmatch(text) else "?"


def _event(
    record: RankRecord, index: int, row: tuple[Any, ...], groups: dict[int, tuple[int, ...]]
) -> Event:
    state, op, flags, redop, group_index, peer, tag, line, dtype, ndim, pieces, nbytes = row[:12]
    begin, end, wait_begin, wait_end, value, _, _, api, function, file, note, until = row[18:30]
    thread, more, polls, seen, polled = row[30:]
    op, note = OPS[op], _text(note)
    begin, end, wait_begin, wait_end, until, polled = _moved(
        record.offset, begin, end, wait_begin, wait_end, until, polled
    )
    group = groups.get(group_index, ())
    if op == "new_group":
        group = _members(note, record.size)
        if group_index > WORLD:
            groups[group_index] = group
    return Event(
        rank=record.rank,
        index=index,
        op=op,
        api=_name(api),
        group=group,
        group_index=group_index,
        peer=_peer(peer),
        tag=tag,
        nbytes=nbytes,
        dtype=DTYPES[dtype] if dtype < len(DTYPES) else "other",
        shape=row[12 : 12 + min(ndim, 6)],
        pieces=pieces,
        reduction=REDUCTIONS[redop] if redop < len(REDUCTIONS) else "",
        function=_name(function),
        file=_text(file),
        line=line,
        state=state,
        flags=flags | more << 8,
        begin=begin,
        end=end,
        wait_begin=wait_begin,
        wait_end=wait_end,
        value=value,
        note=note,
        until=until,
        thread=thread,
        polls=polls,
        seen=seen,
        polled=polled,
    )


def _prefix(path: str | Path) -> bytes:
    """The header and the entries in use, without the sparse rest of the file."""
    with plain_file(path) as file:
        header = file.read(HEADER_BYTES)
        if len(header) < HEADER.size:
            return header
        count = min(max(HEADER.unpack_from(header)[2], 0), CAPACITY)
        return header + file.read(count * ENTRY.itemsize)


def stop(path: str | Path, moment: float) -> None:
    """Note in the record of a rank when its process was ended from outside."""
    with contextlib.suppress(OSError), plain_file(path, "r+") as file:
        file.seek(STOPPED)
        file.write(struct.pack("<d", moment))


def trimmed(path: str | Path, limit: int = CAPACITY) -> bytes:
    """A record as bytes to hand on: header and at most `limit` entries."""
    return _prefix(path)[: HEADER_BYTES + limit * ENTRY.itemsize]
