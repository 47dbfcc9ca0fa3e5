"""Who reads or changes a buffer while an operation on it is under way.

Between a call with `async_op=True`, an `isend` or an `irecv`, and its `wait` what the operation
reads may be read but not changed; what it fills may be neither read nor changed. Whether the value
comes out right all the same is luck. So every operation of torch's is looked at, on the thread that
has started the request, as long as one is open: does it touch memory of a buffer's? Operations of
torch.distributed touch buffers as well (`Recorder.touches`), of requests of any thread.

Functions that look at a tensor's shape alone, and views, touch nothing.

What changes a buffer without an operation of torch's (NumPy, a memoryview, a pointer) is known by
what the buffer holds when it is waited for (`distlab.rank.work`); who only reads it that way is not
seen.
"""

from __future__ import annotations

import functools
import math
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.utils._device  # a mode that is entered would import it, in each rank
from torch.utils import _python_dispatch as dispatch

from distlab.processes import origin
from distlab.rank.buffers import tensors
from distlab.rank.uncompiled import uncompiled

#: operations that take a tensor for its shape and dtype alone
_SHAPES = ("new_", "empty", "sym_", "is_", "size", "stride", "storage_offset", "numel", "dim")
#: methods that read memory without an operation; a tensor is printed with all modes switched off
_COPIED = ("tolist", "__repr__")


@dataclass
class _Open:
    """A buffer of a request that is under way: bytes `begin` … `end` of memory."""

    begin: int
    end: int
    is_read: bool  # by the request, which does not change it
    note: Callable[[str], None]


@uncompiled
class Races(dispatch.TorchDispatchMode):
    """The open buffers of one thread; a mode of torch's as long as there are any.

    Operations that the recorder does itself are done within `own`.
    """

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # `uncompiled` does it, and imports nothing

    def __init__(self) -> None:
        super().__init__()
        self._open: dict[int, list[_Open]] = {}
        self._own = 0
        self._there = False

    def begin(self, request: int, read, written, note: Callable[[str], None]) -> None:
        """Watch what a request reads and what it writes until `end(request)`; `note` is told "read"
        or "changed".
        """
        buffers = [
            _Open(*_memory(tensor), is_read, note)
            for tensors, is_read in ((read, True), (written, False))
            for tensor in tensors
            if _is_plain(tensor)
        ]
        if buffers:
            self._open[request] = buffers
            if not self._there:
                self._there = True
                self.__enter__()

    def end(self, request: int) -> None:
        self._open.pop(request, None)
        # a mode of the student's that was entered later has to be left first
        if not self._open and self._there and dispatch._get_current_dispatch_mode() is self:
            self._there = False
            self.__exit__(None, None, None)

    def close(self) -> None:
        for request in list(self._open):
            self.end(request)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if self._open and not _ours():
            self._look(func, args, kwargs)
        return func(*args, **kwargs)

    def _look(self, func, args, kwargs) -> None:
        name = func._schema.name.partition("::")[2]
        if name.endswith("_like") or name.startswith(_SHAPES):
            return
        schema = func._schema.arguments
        given = [*zip(schema, args, strict=False), *((a, kwargs.get(a.name)) for a in schema)]
        for argument, value in given:
            writes = argument.alias_info is not None and argument.alias_info.is_write
            views = argument.alias_info is not None and not writes
            for tensor in () if views else tensors(value):
                self.touched(tensor, writes)

    def touched(self, tensor: torch.Tensor, writes: bool) -> None:
        """Tell the requests whose buffer this tensor is, or has a part of."""
        if not self._open or tensor.device.type != "cpu" or tensor.layout is not torch.strided:
            return
        try:
            laid = _laid(tensor)
        except RuntimeError:  # inside of vmap, or nested: it has no memory that can be told
            return
        for buffers in list(self._open.values()):
            for buffer in buffers:
                if (writes or not buffer.is_read) and _meets(*laid, buffer.begin, buffer.end):
                    buffer.note("changed" if writes else "read")


def _is_plain(tensor: torch.Tensor) -> bool:
    """Is it one piece of this machine's memory?"""
    return tensor.device.type == "cpu" and tensor.is_contiguous() and tensor.numel() > 0


def _memory(tensor: torch.Tensor) -> tuple[int, int]:
    begin = tensor.data_ptr()
    return begin, begin + tensor.numel() * tensor.element_size()


_Steps = list[tuple[int, int]]


def _laid(tensor: torch.Tensor) -> tuple[int, _Steps, int]:
    """Where a tensor begins; the bytes from one to the next and how many there are, the largest
    step first; and the bytes of an element.
    """
    item = tensor.element_size()
    steps = [(step * item, n) for step, n in zip(tensor.stride(), tensor.shape, strict=True)]
    return tensor.data_ptr(), sorted(steps, reverse=True), item


def _meets(at: int, steps: _Steps, item: int, begin: int, end: int) -> bool:
    """Does an element of a tensor that is laid so lie in these bytes of memory?"""
    length = sum(step * (n - 1) for step, n in steps) + item
    if at >= end or at + length <= begin or not all(n for _, n in steps):
        return False
    if length == item * math.prod(n for _, n in steps):  # no gaps
        return True
    (step, n), *rest = steps
    if not step:  # an expanded tensor has one row many times
        return _meets(at, rest, item, begin, end)
    row = length - step * (n - 1)
    first, last = max(0, (begin - at - row) // step + 1), min(n - 1, (end - at - 1) // step)
    return any(_meets(at + i * step, rest, item, begin, end) for i in range(first, last + 1))


_OURS = origin.recording()


def _ours() -> bool:
    """Is it the recorder that works on the buffer?"""
    frame: types.FrameType | None = sys._getframe(1).f_back  # none above a thread of C++'s
    for _ in range(6):
        if frame is None:
            return False
        if frame.f_code.co_filename in _OURS:
            return True
        frame = frame.f_back
    return False


_found: Callable[[], Races | None] | None = None  # the open buffers of the thread that asks
_replaced: set[str] = set()  # methods of Tensor's, in this process and those forked from it


def watch_methods(races: Callable[[], Races | None]) -> Callable[[], None]:
    """Have methods looked at that read memory without an operation; returns what ends that."""
    global _found
    _found = races
    for name in _COPIED:
        # they stay: to change a method of Tensor takes longer than the rest of a run's beginning
        if name not in _replaced:
            _replaced.add(name)
            setattr(torch.Tensor, name, _watched(getattr(torch.Tensor, name)))
    return _leave_methods


def _leave_methods() -> None:
    global _found
    _found = None


def _watched(plain: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(plain)
    def method(tensor, *args, **kwargs):
        found = _found and _found()
        if found is not None:
            found.touched(tensor, writes=False)
        return plain(tensor, *args, **kwargs)

    return method
