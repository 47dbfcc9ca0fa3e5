"""Write down every operation of torch.distributed on this rank.

The recorder sits at the process group, which everything reaches: functions imported by name,
methods of the group object, `batch_isend_irecv`, object collectives, and what DDP calls from C++.
`distlab.rank.process_group` has the groups and requests that hand their operations to a `Recorder`.

The cost is a few microseconds an operation (`bench/recorder.py`). The entries go to a mapped file
(`distlab.records.events`) and so outlive this process, however it ends.
"""

from __future__ import annotations

import collections
import contextlib
import itertools
import json
import math
import os
import struct
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import torch

from distlab.rank import buffers, places
from distlab.rank.holdings import Holdings
from distlab.rank.mapping import mapped
from distlab.rank.places import Calls
from distlab.rank.races import Races, watch_methods
from distlab.rank.stamps import Stamps
from distlab.rank.standing import Place, Standing
from distlab.rank.threads import Threads
from distlab.records import events
from distlab.records.choices import Plan
from distlab.records.events import ENTRY, HEADER, HEADER_BYTES, OP_CODE, PACK

_DTYPE_CODE = {getattr(torch, name): code for code, name in enumerate(events.DTYPES[1:-1], 1)}
_OFFSET = {name: place[1] for name, place in (ENTRY.fields or {}).items()}
_now = time.monotonic
_double = struct.Struct("<d").pack_into
_int = struct.Struct("<i").pack_into
_unsigned = struct.Struct("<I").pack_into
_short = struct.Struct("<H").pack_into
_ident = threading.get_ident
_BESIDE_BYTES = 240
_LONGEST = 2**31 - 1  # of a tensor's dimensions, as an entry can hold it
_MOST_LEFT = 2  # groups, each of which has threads
_MOST_GROUPS = 2**15 - 1  # besides the default group, as an entry can hold their numbers


class Request(Protocol):
    """An operation that has begun and that nobody has waited for yet."""

    def settle(self) -> None: ...


class Recorder:
    """The record of this process as rank `rank` of `size`, in the file `path`.

    Args:
        strict: fill the buffer of a non-blocking receive or collective only when it is waited for,
            and with a poison (NaN, or the smallest integer) until then. A program that reads early
            is then always seen to be wrong, not only by bad luck.
        lasts: seconds from now after which the run is ended: a longer timeout counts as none.
        keeps: note also what tensors hold, in a file beside it (`distlab.rank.holdings`).
    """

    def __init__(
        self, path: str | Path, rank: int, size: int, strict: bool = False,
        lasts: float = math.inf, keeps: bool = False,
    ) -> None:  # fmt: skip
        self.rank, self.size, self.strict = rank, size, strict
        self._last = _now() + lasts
        self._map = mapped(path, HEADER_BYTES + events.CAPACITY * ENTRY.itemsize)
        self.holdings = Holdings(Path(path)) if keeps else None
        self._count = 0
        self._indices = itertools.count()
        self._adding = threading.RLock()  # a signal's handler may add an entry within another
        self._groups = 1  # 0 is the default group
        self.apart = False  # does the default group number its ranks in a way of its own?
        self._paused = False
        self.stamps: Stamps | None = None  # what messages carry besides (`distlab.rank.stamps`)
        self.heard: Callable[[int], None] | None = None  # called with the bytes of each receive
        self._offset = 0.0
        # requests nobody has waited for: dropped ones would take their messages along
        self.open: dict[int, Request] = {}
        self._calls = Calls()
        self.plan, self.running = Plan(), False
        self._standing: Standing | None = None
        self._wait = -1  # the entry for which the function's own thread last began to wait
        self._here = threading.local()
        self._watched: list[Races] = []  # of every thread that has begun a request
        self.end_watching: Callable[[], None] | None = None
        self.buffered: list[object] = []  # sends that go on although the rank's own has ended
        self.left = collections.deque[object](maxlen=_MOST_LEFT)  # groups that were destroyed
        self._causes = os.path.splitext(path)[0] + ".causes"
        self._known: set[str] = set()
        self._threads = Threads(self._goes_on, self._place, self._raised)
        self._numbers: dict[int, int] = {}  # of threads, by what Python calls their ident
        self._next_number = itertools.count()
        HEADER.pack_into(self._map, 0, rank, size, 0, events.NOT_STARTED, 0.0, 0.0, 0, 0.0, 0.0)

    def align(self, offset: float) -> None:
        """Have all times moved by so many seconds when they are read: to the watcher's clock."""
        self._offset = offset
        _double(self._map, events.OFFSET, offset)

    def watch(self) -> None:
        """In a strict run: see which operations touch the buffers of requests under way."""
        if self.strict:
            self.end_watching = watch_methods(lambda: getattr(self._here, "races", None))

    def started(self) -> None:
        self.running = True
        self._numbers, self._next_number = {_ident(): 0}, itertools.count(1)
        self._threads.begin()
        HEADER.pack_into(
            self._map, 0, self.rank, self.size, self._count, events.RUNNING, _now(), 0.0, 0, 0.0,
            self._offset,
        )  # fmt: skip
        self._standing = Standing(self._last, places.stands_at, self._seen)

    def _seen(self, place: Place | None, stands: bool) -> None:
        """Note where the function was seen, unless it waited in an operation there: the entry says
        so while it waits, and once that has ended the function is somewhere else.
        """
        if self._waits():
            place, stands = None, False
        function, line, _, called = place or (b"", 0, 0, b"")
        events.SEEN.pack_into(self._map, events.SEEN_AT, line, function, called, stands)

    def _waits(self) -> bool:
        at = self._wait
        if at < 0 or self._map[at] != events.POSTED:
            return False
        return not struct.unpack_from("<d", self._map, at + _OFFSET["wait_end"])[0]

    def ended(self, raised: bool) -> None:
        for request in list(self.open.values()):
            request.settle()
        self._threads.function_ends()
        if self._standing is not None:
            self._standing.end()
        _double(self._map, 24, _now())
        _int(self._map, 12, events.RAISED if raised else events.RETURNED)

    def closed(self) -> None:
        """Count no threads that are started from now on, and stop watching buffers."""
        if self._standing is not None:
            self._standing.end()
        self._threads.close()
        if self.end_watching is not None:
            self.end_watching()
            self.races().close()

    def _goes_on(self, agents: int, pending: int) -> None:
        """Note what runs beside the function, before it can do anything."""
        _int(self._map, events.GOES_ON, min(pending, 0x7FFF) << 16 | min(agents, 0xFFFF))

    def _raised(self, error: BaseException | None) -> bool:
        """Note what a thread has raised; with `None`, that somebody has taken notice of it. False
        for what is no cause of anything.
        """
        if error is None:
            events.BESIDE.pack_into(self._map, events.BESIDE_AT, 0, b"", b"", b"")
            return True
        function, line = places.raised_at(error)
        try:
            text = str(error)
        except Exception:  # a class of the function's own can raise anything here
            text = ""
        if "/gloo/" in text:  # an operation failed because its peer had gone: that is no cause
            return False
        kind = places.cut(type(error).__name__, places.FUNCTION_BYTES)
        said = places.cut(text, _BESIDE_BYTES)
        events.BESIDE.pack_into(self._map, events.BESIDE_AT, line, function, kind, said)
        return True

    def _thread(self) -> int:
        """A number for the thread that asks; the function's own is 0."""
        ident = _ident()
        number = self._numbers.get(ident)
        if number is None:
            number = self._numbers[ident] = next(self._next_number) & 0xFFFF
        return number

    def callback(self, at: int, callback):
        """A callback of the student's for the end of an operation, counted until it has run."""
        self.flag(at, events.CALLBACK)
        counted = self._threads.callback(at, callback)
        if at < 0 or self._map[at] != events.POSTED:
            self._threads.ends(at)
        return counted

    def again(self, at: int) -> int:
        """Add an entry for a second wait for an operation that has ended, a copy of the first."""
        if self._paused or at < 0:
            return -1
        entry, now = bytearray(self._map[at : at + ENTRY.itemsize]), _now()
        entry[0] = events.POSTED
        entry[_OFFSET["more"]] |= events.AGAIN >> 8 & 0xFF
        for name, moment in (("begin", now), ("wait_begin", now), ("end", 0.0), ("wait_end", 0.0)):
            _double(entry, _OFFSET[name], moment)
        return self._add(entry)

    def _add(self, entry: bytes | bytearray) -> int:
        """Write an entry behind all others; returns its offset, or -1 when the file is full.

        Entries are added one at a time: a watcher takes each that the header counts as written. If
        one of them were still to be filled in by another thread, the watcher would never see it.
        """
        with self._adding:
            index = next(self._indices)
            at = HEADER_BYTES + index * ENTRY.itemsize
            if index < events.CAPACITY:
                self._map[at : at + ENTRY.itemsize] = entry
            self._count = max(self._count, index + 1)
            _int(self._map, 8, self._count)
        return at if index < events.CAPACITY else -1

    def polled(self, at: int, answer: bool) -> None:
        """Count a call of `is_completed`."""
        if at < 0:
            return
        polls = struct.unpack_from("<H", self._map, at + _OFFSET["polls"])[0]
        if not polls:
            _double(self._map, at + _OFFSET["polled"], _now())
        if not answer:
            _short(self._map, at + _OFFSET["polls"], min(polls + 1, 0xFFFF))
        elif not struct.unpack_from("<H", self._map, at + _OFFSET["seen"])[0]:
            _short(self._map, at + _OFFSET["seen"], min(polls + 1, 0xFFFF))

    def begin(
        self, op, group, tensor=None, peer=-1, tag=0, reduction=0, pieces=1, note=b"",
        lasts=math.inf, also=0, called=None, nbytes=None,
    ):  # fmt: skip
        """Write a new entry; returns its offset, or -1 when the file is full or while paused.

        `lasts`: seconds after which the operation gives up by itself; `also`: further flags;
        `called`: the function that was called, where it is none of torch.distributed's; `nbytes`:
        what this rank gives, where that is not `pieces` times `tensor`.
        """
        if self._paused and not also & events.GIVEN:
            return -1
        flags, api, function, file, line = self._calls.caller()
        if called is not None:
            flags, api = 0, places.cut(called, places.API_BYTES)
        shape, dtype, value, crc = (), 0, float("nan"), 0
        if tensor is not None:
            shape = tuple(min(length, _LONGEST) for length in tensor.shape[:6])
            dtype = _DTYPE_CODE.get(tensor.dtype, len(events.DTYPES) - 1)
            if nbytes is None and tensor.layout is torch.strided:
                # of a sparse one nobody knows what will be sent
                nbytes = tensor.numel() * tensor.element_size() * pieces
            if op == "send":
                value, crc = buffers.sample(tensor)
        flags |= also | (events.INTERNAL if getattr(self._here, "internal", False) else 0)
        if peer == -2:
            flags, peer = flags | events.ANY_SOURCE, -1
        now = _now()
        until = self._until(now, lasts) if lasts < events.LONG else 0.0
        at = self._add(PACK.pack(
            events.POSTED, OP_CODE[op], flags & 0xFF, reduction, group, peer, tag, line, dtype,
            len(shape), pieces & 0xFFFF, nbytes or 0, *shape, *(0,) * (6 - len(shape)),
            now, 0.0, 0.0, 0.0, value, crc, 0, api, function, file, note, until,
            self._thread(), flags >> 8, 0, 0, 0.0,
        ))  # fmt: skip
        if tensor is not None and op != "recv" and not flags & events.INTERNAL:
            self._keep(at, 0, [tensor])
        return at

    def results(self, at: int, tensors) -> None:
        """Note what an operation has left in these tensors, where that is kept."""
        self._keep(at, 1, tensors)

    def _keep(self, at: int, when: int, tensors) -> None:
        if self.holdings is not None and at >= 0:
            self.holdings.keep((at - HEADER_BYTES) // ENTRY.itemsize, when, tensors)

    def is_internal(self, at: int) -> bool:
        """Is this operation torch's own, or the course's, rather than the student's?"""
        return at < 0 or bool(self._map[at + 2] & events.INTERNAL)

    def flag(self, at: int, flag: int) -> None:
        if at >= 0:
            self._map[at + 2] |= flag & 0xFF
            self._map[at + _OFFSET["more"]] |= flag >> 8 & 0xFF
            self._map[at + _OFFSET["more"] + 1] |= flag >> 16

    def _until(self, now: float, lasts: float) -> float:
        """When a timeout that begins now has passed; 0 for one that outlasts the run."""
        return now + lasts if lasts < events.LONG and now + lasts < self._last else 0.0

    def wait_begin(self, at: int, blocking: bool, lasts: float | None = None) -> None:
        """Note that this rank waits from now on, for `lasts` seconds if that is known."""
        if at >= 0:
            now = _now()
            self._map[at + 2] |= events.WAITED | (events.BLOCKING if blocking else 0)
            thread = self._thread()
            _short(self._map, at + _OFFSET["thread"], thread)
            if not thread:
                self._wait = at
            # the limit first: who sees a wait must know how long it can last
            if self._map[at] == events.FAILED:  # an earlier wait gave up, which ends that alone
                _double(self._map, at + _OFFSET["until"], 0.0)
                _double(self._map, at + _OFFSET["wait_end"], 0.0)
                _double(self._map, at + _OFFSET["end"], 0.0)
                self._map[at] = events.POSTED
            if lasts is not None and (until := self._until(now, lasts)):
                _double(self._map, at + _OFFSET["until"], until)
            _double(self._map, at + _OFFSET["wait_begin"], now)

    def finish(self, at: int, state: int = events.DONE, waited: bool = False) -> None:
        if at >= 0:
            now = _now()
            first = self._map[at] != state  # what was polled ends twice
            self._callbacks_begin(at)  # before it is known that it has ended
            _double(self._map, at + _OFFSET["end"], now)
            if waited:
                _double(self._map, at + _OFFSET["wait_end"], now)
            self._map[at] = state
            self._callbacks_begin(at)  # one may have come meanwhile
            if self.heard is not None and first and self._received(at):
                self.heard(struct.unpack_from("<q", self._map, at + _OFFSET["nbytes"])[0])

    def _received(self, at: int) -> bool:
        return bool(self._map[at + 1] == OP_CODE["recv"] and self._map[at] == events.DONE)

    def _callbacks_begin(self, at: int) -> None:
        if self._map[at + _OFFSET["more"]] & events.CALLBACK >> 8:
            self._threads.ends(at)

    def race(self, at: int, how: str) -> None:
        """Note that a buffer was "read" or "changed" before its wait; the first time counts."""
        if at < 0 or self._raced(at):
            return
        _, _, function, _, line = self._calls.caller()
        note = bytes(self._map[at + _OFFSET["note"] : at + _OFFSET["note"] + 48]).rstrip(b"\0")
        told = b" ".join(part for part in (note, f"{how} {line}".encode(), function) if part)
        self._map[at + _OFFSET["note"] : at + _OFFSET["note"] + 48] = told[:48].ljust(48, b"\0")
        self.flag(at, events.RACED)

    def _raced(self, at: int) -> bool:
        more = struct.unpack_from("<H", self._map, at + _OFFSET["more"])[0]
        return bool(more << 8 & events.RACED)

    def races(self) -> Races:
        """The open buffers of this thread."""
        found = getattr(self._here, "races", None)
        if found is None:
            found = self._here.races = Races()
            self._watched.append(found)
        return found

    def touches(self, read, written) -> None:
        """Note races between an operation that begins, which reads and writes these tensors, and
        those that are under way.
        """
        for races in self._watched:
            for tensor in written:
                races.touched(tensor, writes=True)
            for tensor in read:
                races.touched(tensor, writes=False)

    def cause(self, kind: str, key: str) -> None:
        """Note that this rank has "set" a key of the store, has "seen" or "found" it there, or has
        "changed" it: what it does next comes after what earlier writers of the key had done.
        """
        if self._paused or (kind == "found" and key in self._known):
            return
        self._known.add(key)  # who looks again and again finds it once
        told = json.dumps([_now(), kind, key[-80:]]) + "\n"
        # by Python's own files it takes three times as long, of what a new group takes a tenth
        file = os.open(self._causes, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            os.write(file, told.encode())
        finally:
            os.close(file)

    def content(self, at: int, tensor: torch.Tensor, sent: bool) -> None:
        """Note what a buffer holds at its wait; a send buffer that has changed is flagged."""
        if at < 0:
            return
        value, crc = buffers.sample(tensor)
        _unsigned(self._map, at + _OFFSET["crc_end"], crc)
        if not sent:
            _double(self._map, at + _OFFSET["value"], value)
            self.results(at, [tensor])
        elif crc != struct.unpack_from("<I", self._map, at + _OFFSET["crc_begin"])[0]:
            self.flag(at, events.CHANGED)

    def source(self, at: int, rank: int) -> None:
        if at >= 0:
            struct.pack_into("<h", self._map, at + _OFFSET["peer"], rank)

    @property
    def paused(self) -> bool:
        return self._paused

    @contextlib.contextmanager
    def pausing(self) -> Iterator[None]:
        """What this rank does meanwhile goes unrecorded."""
        before, self._paused = self._paused, True
        try:
            yield
        finally:
            self._paused = before

    @contextlib.contextmanager
    def internally(self) -> Iterator[None]:
        """What this thread begins meanwhile counts as torch's own."""
        before = getattr(self._here, "internal", False)
        self._here.internal = True
        try:
            yield
        finally:
            self._here.internal = before

    def next_group(self) -> int:
        """The number of a group that is about to be made.

        Raises:
            RuntimeError: an entry has no room for it.
        """
        if self._groups > _MOST_GROUPS:
            raise RuntimeError(
                f"this is group number {self._groups + 1:,} of a run, whose record has room for "
                f"{_MOST_GROUPS + 1:,}: make a group once, and use it again"
            )
        self._groups += 1
        return self._groups - 1

    def _place(self):
        """((function, file), line) of the student's code that runs now; None for none."""
        flags, _, *place, line = self._calls.caller()
        return (tuple(place), line) if place[0] else None
