"""Write down every operation of torch.distributed on this rank.

The recorder sits at the process group, which everything reaches: functions imported by name,
methods of the group object, `batch_isend_irecv`, object collectives, and what DDP calls from C++.
`distlab.recorded` has the groups and requests that hand their operations to a `Recorder`.

The cost is a few microseconds an operation (`bench/recorder.py`). The entries go to a mapped file
(`distlab.records`) and so outlive this process, however it ends.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import mmap
import os
import struct
import sys
import sysconfig
import time
import types
import zlib
from pathlib import Path

import torch
from torch.distributed import distributed_c10d as c10d

from distlab import records
from distlab.records import ENTRY, HEADER, HEADER_BYTES, OP_CODE, PACK
from distlab.threads import Threads

_INSTALLED = (os.path.dirname(__file__) + os.sep,) + tuple(
    sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")
)
_C10D = c10d.__file__
_RECORDING = {__file__, os.path.join(os.path.dirname(__file__), "recorded.py")}
_DTYPE_CODE = {getattr(torch, name): code for code, name in enumerate(records.DTYPES[1:-1], 1)}
_OFFSET = {name: ENTRY.fields[name][1] for name in ENTRY.names}
_now = time.monotonic
_double = struct.Struct("<d").pack_into
_int = struct.Struct("<i").pack_into
_unsigned = struct.Struct("<I").pack_into
_STUDENT, _LIBRARY, _API, _OURS = range(4)
_SAMPLE = 2048  # bytes at each end of a buffer that go into its checksum


def mapped(path: str | Path, length: int) -> mmap.mmap:
    """Memory of so many bytes in a file, which is made where it is not there: what nobody has
    written takes no room.
    """
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        os.ftruncate(file, length)
        memory = mmap.mmap(file, length)
    finally:
        os.close(file)
    if hasattr(mmap, "MADV_RANDOM"):  # else the first write has megabytes of nothing read ahead
        memory.madvise(mmap.MADV_RANDOM)
    return memory


class Recorder:
    """The record of this process as rank `rank` of `size`, in the file `path`.

    Args:
        strict: fill the buffer of a non-blocking receive or collective only when it is waited for,
            and with a poison (NaN, or the smallest integer) until then. A program that reads early
            is then always seen to be wrong, not only by bad luck.
        lasts: seconds from now after which the run is ended: what waits longer waits for ever.
    """

    def __init__(
        self, path: str | Path, rank: int, size: int, strict: bool = False, lasts: float = math.inf
    ) -> None:
        self.rank, self.size, self.strict = rank, size, strict
        self._last = _now() + lasts
        self._map = mapped(path, HEADER_BYTES + records.CAPACITY * ENTRY.itemsize)
        self._count = 0
        self._indices = itertools.count()  # a student's threads may draw from it at the same time
        self._groups = 0
        self._paused = False
        self._offset = 0.0
        # requests nobody has waited for: dropped ones would take their messages along
        self.open: dict[int, object] = {}
        self._codes: dict[int, _Code] = {}
        self._threads: Threads | None = None
        HEADER.pack_into(self._map, 0, rank, size, 0, records.NOT_STARTED, 0.0, 0.0, 0, 0.0, 0.0)

    def align(self, offset: float) -> None:
        """Have all times moved by so many seconds when they are read: to the watcher's clock."""
        self._offset = offset
        _double(self._map, records.OFFSET, offset)

    def started(self) -> None:
        self._threads = Threads()
        HEADER.pack_into(
            self._map, 0, self.rank, self.size, self._count, records.RUNNING, _now(), 0.0, 0, 0.0,
            self._offset,
        )  # fmt: skip

    def ended(self, raised: bool) -> None:
        # what goes on first: who sees an end must know whether it is one
        _int(self._map, 32, self._others())
        _double(self._map, 24, _now())
        _int(self._map, 12, records.RAISED if raised else records.RETURNED)

    def _others(self) -> bool:
        return self._threads is not None and self._threads.others()

    def begin(
        self, op, group, tensor=None, peer=-1, tag=0, reduction=0, pieces=1, note=b"",
        lasts=math.inf, also=0, called=None,
    ):  # fmt: skip
        """Write a new entry; returns its offset, or -1 when the file is full or while paused.

        `lasts`: seconds after which the operation gives up by itself; `also`: further flags;
        `called`: the function that was called, where it is none of torch.distributed's.
        """
        if self._paused:
            return -1
        index = next(self._indices)
        self._count = max(self._count, index + 1)
        if index >= records.CAPACITY:
            _int(self._map, 8, self._count)
            return -1
        flags, api, function, file, line = self._caller()
        if called is not None:
            flags, api = 0, called.encode()[:28]
        shape, dtype, nbytes, value, crc = (), 0, 0, float("nan"), 0
        if tensor is not None:
            shape = tuple(tensor.shape)[:6]
            dtype = _DTYPE_CODE.get(tensor.dtype, len(records.DTYPES) - 1)
            nbytes = tensor.numel() * tensor.element_size() * pieces
            if op == "send":
                value, crc = _content(tensor)
        # these are waited for without a `wait`
        if (op == "new_group" or flags & records.INTERNAL) and self._others():
            flags |= records.THREADED
        flags |= also
        if peer == -2:
            flags, peer = flags | records.ANY_SOURCE, -1
        at, now = HEADER_BYTES + index * ENTRY.itemsize, _now()
        until = self._until(now, lasts) if lasts < records.LONG else 0.0
        PACK.pack_into(
            self._map, at, records.POSTED, OP_CODE[op], flags, reduction, group, peer, tag, line,
            dtype, len(shape), pieces & 0xFFFF, nbytes, *shape, *(0,) * (6 - len(shape)),
            now, 0.0, 0.0, 0.0, value, crc, 0, api, function, file, note, until,
        )  # fmt: skip
        _int(self._map, 8, self._count)
        return at

    def is_internal(self, at: int) -> bool:
        """Is this operation torch's own, or the course's, rather than the student's?"""
        return at < 0 or bool(self._map[at + 2] & records.INTERNAL)

    def flag(self, at: int, flag: int) -> None:
        if at >= 0:
            self._map[at + 2] |= flag

    def _until(self, now: float, lasts: float) -> float:
        """When a timeout that begins now has passed; 0 for one that outlasts the run."""
        return now + lasts if lasts < records.LONG and now + lasts < self._last else 0.0

    def wait_begin(self, at: int, blocking: bool, lasts: float | None = None) -> None:
        """Note that this rank waits from now on, for `lasts` seconds if that is known."""
        if at >= 0:
            now = _now()
            others = records.THREADED if self._others() else 0
            self._map[at + 2] |= records.WAITED | (records.BLOCKING if blocking else 0) | others
            # the limit first: who sees a wait must know how long it can last
            if lasts is not None and (until := self._until(now, lasts)):
                _double(self._map, at + _OFFSET["until"], until)
            _double(self._map, at + _OFFSET["wait_begin"], now)

    def finish(self, at: int, state: int = records.DONE, waited: bool = False) -> None:
        if at >= 0:
            now = _now()
            _double(self._map, at + _OFFSET["end"], now)
            if waited:
                _double(self._map, at + _OFFSET["wait_end"], now)
            self._map[at] = state

    def content(self, at: int, tensor: torch.Tensor, sent: bool) -> None:
        """Note what a buffer holds at its wait; a send buffer that has changed is flagged."""
        if at < 0:
            return
        value, crc = _content(tensor)
        _unsigned(self._map, at + _OFFSET["crc_end"], crc)
        if not sent:
            _double(self._map, at + _OFFSET["value"], value)
        elif crc != struct.unpack_from("<I", self._map, at + _OFFSET["crc_begin"])[0]:
            self.flag(at, records.CHANGED)

    def source(self, at: int, rank: int) -> None:
        if at >= 0:
            struct.pack_into("<h", self._map, at + _OFFSET["peer"], rank)

    def next_group(self) -> int:
        self._groups += 1
        return self._groups - 1

    def _caller(self):
        """(flags, API name, function, file, line) of the call in the student's code."""
        codes, frame = self._codes, sys._getframe(2)
        api = outermost = b""
        while frame is not None:
            code = frame.f_code
            known = codes.get(id(code))  # to hash a code takes longer than all the rest
            if known is None:
                known = codes[id(code)] = _Code(code)
            kind = known.kind
            if kind == _STUDENT:
                place, line = known.place, frame.f_lineno
                break
            if kind != _OURS:
                outermost = known.name
                if kind == _API:
                    api = outermost
            frame = frame.f_back
        else:
            place, line = (b"", b""), 0
        return 0 if api else records.INTERNAL, api or outermost, *place, line


class _Code:
    """What an entry says of a function, and whose that is."""

    __slots__ = ("code", "kind", "name", "place")

    def __init__(self, code: types.CodeType) -> None:
        self.code = code  # kept: its id must not become another's
        self.kind = _kind(code)
        self.name = code.co_name.encode()[:28]
        self.place = code.co_name.encode()[:40], os.path.basename(code.co_filename).encode()[-32:]


def _kind(code: types.CodeType) -> int:
    if code.co_filename in _RECORDING:
        return _OURS
    if code.co_filename == _C10D and not code.co_name.startswith("_"):
        return _API
    return _LIBRARY if code.co_filename.startswith(_INSTALLED) else _STUDENT


def _content(tensor: torch.Tensor) -> tuple[float, int]:
    """First element and a checksum over both ends; (nan, 0) for what is not in plain CPU memory."""
    if tensor.device.type != "cpu" or not tensor.is_contiguous() or tensor.numel() == 0:
        return float("nan"), 0
    try:
        data = tensor.detach().view(-1).view(torch.uint8).numpy().data
        crc = zlib.crc32(data[:_SAMPLE])
        if len(data) > _SAMPLE:
            crc = zlib.crc32(data[-_SAMPLE:], crc)
        return float(tensor.detach().view(-1)[0].item().real), crc
    except (RuntimeError, TypeError):
        return float("nan"), 0


_active: Recorder | None = None
make_group = c10d._new_process_group_helper


def active() -> Recorder | None:
    """The recorder of the function that runs on this rank."""
    return _active


def install(recorder: Recorder) -> None:
    """Record every group that is made from now on. Call it before `init_process_group`."""
    from distlab import recorded

    global _active
    recorder._groups = 1  # 0 is the default group
    _active = recorder
    c10d._new_process_group_helper = recorded.maker


@contextlib.contextmanager
def paused():
    """Communication of the course's own around a student's function goes unrecorded."""
    recorder = _active
    if recorder is None:
        yield
        return
    recorder._paused = True
    try:
        yield
    finally:
        recorder._paused = False


def uninstall() -> None:
    global _active
    _active = None
    c10d._new_process_group_helper = make_group
