"""How much an optimizer's state holds: its tensors, in whatever kind of object they lie."""

from __future__ import annotations

import array
import contextlib
import gc
import io
import types
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

_MOST = 100_000  # objects that are looked into
_SCALARS = (float, complex, np.inexact)
_BYTES = (bytes, bytearray, memoryview, array.array)
_PLAIN = (*_SCALARS, str, int, type(None))
_OF_PYTHON = 1 << 9  # the flag of classes that are written in Python, whose objects hold attributes
_SUSPENDED = (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)
#: what `torch.optim.Optimizer` has besides its state: the parameters are not its own
_OF_OPTIMIZERS = {"defaults", "param_groups", "state"}


class Kept(NamedTuple):
    """Elements of tensors, complex ones as two. `passing`: those that only a suspended generator's
    variables hold, where what it was sent last lies beside what it keeps. `floats`: numbers that
    lie in no tensor, and those for which there is room in bytes, four for each.
    """

    lasting: int
    passing: int
    floats: int = 0


def elements(roots: Iterable[Any], besides: Iterable[torch.Tensor] = ()) -> Kept:
    """The elements of all tensors that can be reached from `roots`, shared memory once.

    It looks into containers, objects (with slots too), closures, partials, bound methods and
    generators; not at global variables.

    Args:
        besides: tensors whose memory does not count.
    """
    others = {_memory(tensor)[0] for tensor in besides}
    found: dict[Any, tuple[int, int, bool]] = {}
    floats = 0
    for one, suspended in _numeric(roots):
        if isinstance(one, int):
            floats += one
            continue
        key, room = _memory(one)
        if key not in others:
            _, counted, before = found.get(key, (0, 0, True))
            found[key] = room, counted + _number(one), before and suspended
    lasting = sum(min(room, count) for room, count, passing in found.values() if not passing)
    together = sum(min(room, count) for room, count, _ in found.values())
    return Kept(lasting, together - lasting, floats)


def _number(tensor: torch.Tensor | np.ndarray) -> int:
    if isinstance(tensor, np.ndarray):
        return tensor.size * (2 if np.iscomplexobj(tensor) else 1)
    return tensor.numel() * (2 if tensor.is_complex() else 1)


def _memory(tensor: torch.Tensor | np.ndarray) -> tuple[Any, int]:
    """What tells its memory from others', and how many elements there is room for."""
    if isinstance(tensor, np.ndarray) or tensor.layout != torch.strided:
        return id(tensor), _number(tensor)
    storage = tensor.untyped_storage()
    one = tensor.element_size() // (2 if tensor.is_complex() else 1)
    return ("storage", storage.data_ptr()), storage.nbytes() // one


def _numeric(roots: Iterable[Any]) -> Iterator[tuple[Any, bool]]:
    """(a tensor, or how many numbers lie in none; was it found among the variables of what is
    suspended?)
    """
    todo = [(root, False) for root in roots]
    seen: dict[int, Any] = {}  # with the objects, so that no id comes again
    while todo and len(seen) < _MOST:
        one, suspended = todo.pop()
        if id(one) in seen or _is_empty(type(one)):
            continue
        seen[id(one)] = one
        if isinstance(one, (torch.Tensor, np.ndarray)) and not is_traceable_wrapper_subclass(one):
            yield one, suspended
        suspended = suspended or isinstance(one, _SUSPENDED)
        inside = _inside(one)
        kinds = Counter(map(type, inside))  # by kind: a list may hold a million numbers
        yield sum(map(_scalars, kinds.items())), suspended
        empty = {kind for kind in kinds if _is_empty(kind)}
        if len(empty) < len(kinds):
            rest = [inner for inner in inside if type(inner) not in empty]
            yield sum(map(_saved, rest)), suspended
            todo += [(inner, suspended) for inner in rest if type(inner) not in (bytes, bytearray)]


def _is_empty(kind: type) -> bool:
    """Is there nothing to look into in objects of this kind, but for what is global?"""
    if issubclass(kind, (type, types.ModuleType)):
        return True
    return issubclass(kind, _PLAIN) and not kind.__flags__ & _OF_PYTHON


def _scalars(kind: tuple[type, int]) -> int:
    """How many numbers so many objects of a kind are."""
    scalar, count = kind
    if not issubclass(scalar, _SCALARS):
        return 0
    return count * (2 if issubclass(scalar, (complex, np.complexfloating)) else 1)


def _saved(one: Any) -> int:
    """How many numbers there may be in bytes."""
    with contextlib.suppress(ValueError):  # closed
        buffer = one.getbuffer() if isinstance(one, io.BytesIO) else one
        return memoryview(buffer).nbytes // 4 if isinstance(buffer, _BYTES) else 0
    return 0


def _inside(one: Any) -> list[Any]:
    """What an object holds, but for what is global."""
    if isinstance(one, (torch.Tensor, np.ndarray)):
        around: list[str] = []  # a DTensor has no memory of its own, but for its local tensor's
        if is_traceable_wrapper_subclass(one):
            around, _ = one.__tensor_flatten__()
        return [*getattr(one, "__dict__", {}).values(), *(getattr(one, name) for name in around)]
    if isinstance(one, io.BytesIO):  # since Python 3.12 its bytes are among its referents
        return list(vars(one).values())
    if isinstance(one, torch.optim.Optimizer):
        own = {k: v for k, v in vars(one).items() if k not in _OF_OPTIMIZERS and k[:1] != "_"}
        return [dict(one.state), own]
    if isinstance(one, dict):
        return [] if "__builtins__" in one else list(one.values())
    if isinstance(one, types.FunctionType):
        cells = [cell for cell in one.__closure__ or () if cell != types.CellType()]
        defaults = [*(one.__defaults__ or ()), one.__kwdefaults__, vars(one)]
        return [*(cell.cell_contents for cell in cells), *defaults]
    if isinstance(one, _SUSPENDED):
        return _variables(one)
    if isinstance(one, types.FrameType):
        return []
    return gc.get_referents(one)


def _variables(suspended: Any) -> list[Any]:
    """The variables of a generator or coroutine, and what it waits for in its turn."""
    for kind in ("gi", "cr", "ag"):
        if hasattr(suspended, f"{kind}_frame"):
            frame = getattr(suspended, f"{kind}_frame")
            inner = getattr(suspended, "gi_yieldfrom" if kind == "gi" else f"{kind}_await", None)
            return [*(frame.f_locals.values() if frame is not None else ()), inner]
    return []
