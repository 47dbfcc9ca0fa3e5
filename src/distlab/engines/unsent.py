"""Says which name of which function cannot be sent to another process. (pickle itself names the
innermost object that it failed at.)
"""

from __future__ import annotations

import collections
import contextlib
import functools
import time
import types
from collections.abc import Callable, Iterator
from typing import Any

from cloudpickle import cloudpickle

_FILE, _LOCAL = "open it inside {}", "make it inside {}"
_COMPILED = "compile it inside {}"
_REGISTERED = "an operator that torch.library knows in this process only", "register it inside {}"
#: what a class's instances are, in words, and what to do instead; by the names of its bases
_WORDS = {
    "_io._IOBase": ("an open file", _FILE),
    "tempfile._TemporaryFileWrapper": ("an open file", _FILE),
    "socket.socket": ("a socket", _FILE),
    "builtins.generator": ("a generator", _LOCAL),
    "builtins.coroutine": ("a coroutine", _LOCAL),
    "multiprocessing.synchronize.SemLock": ("a lock between processes", _LOCAL),
    "multiprocessing.queues.Queue": ("a queue between processes", _LOCAL),
    "multiprocessing.pool.Pool": ("a pool of processes", _LOCAL),
    "weakref.ReferenceType": ("a weak reference", _LOCAL),
    "threading.Thread": ("a thread that has been started", "start it inside {}"),
    "subprocess.Popen": ("another process", "start it inside {}"),
    "concurrent.futures._base.Future": ("a result that is still to come", _LOCAL),
    "torch.jit.torch.jit.ScriptFunction": ("a function that torch.jit has compiled", _COMPILED),
    "torch.jit._script.ScriptModule": ("a module that torch.jit has compiled", _COMPILED),
    "torch._library.custom_ops.CustomOpDef": _REGISTERED,
    "torch._ops.OpOverloadPacket": _REGISTERED,
    "torch._ops.OpOverload": _REGISTERED,
    "IPython.core.interactiveshell.InteractiveShell": (
        "the notebook itself", "use it outside of {}",
    ),
}  # fmt: skip
PATIENCE = 2.0  # seconds that the search may take
_SEQUENCES = (list, tuple, collections.deque)
_TRANSPARENT = ("__wrapped__", "__func__", "fget", "fset", "fdel", "func", "cell_contents")


class NotSent(TypeError):
    """A function uses what cannot be sent to another process. The message is one sentence."""


def explained(value: Any, error: BaseException, dump: Callable[[Any], object]) -> NotSent:
    """Which part of a value made `dump` refuse it with this error: the innermost one that is
    refused by itself, named as code would name it.
    """
    name = getattr(value, "__name__", "")
    if name == type(value).__name__:  # torch.jit.script gives all its functions that name
        name = _plainly(value, "name")
    owner, said = (name, name) if isinstance(name, str) and name else ("", "an argument")
    seen, until = {id(value)}, time.monotonic() + PATIENCE
    with contextlib.suppress(Exception):  # what objects of the notebook do when they are looked at
        while not _told(value) and (
            found := next(_refused(value, owner, said, seen, until, dump), None)
        ):
            owner, said, value, error = found
            seen.add(id(value))
    kind, what = _words(value)
    whose = f", which {owner} uses," if owner and owner != said else ""
    if what == _COMPILED and not whose:
        what = "hand it over as it was before that"
    help = what.format(owner or "the function") if what else _first(error)
    return NotSent(f"{said[:200]}{whose} {kind} and cannot be sent to another process: {help}.")


def _refused(
    value: Any, owner: str, said: str, seen: set[int], until: float, dump: Callable[[Any], object]
) -> Iterator[tuple[str, str, Any, BaseException]]:
    for who, name, part in _parts(value, owner, said):
        if time.monotonic() > until:
            return
        if id(part) in seen:
            continue
        try:
            dump(part)
        except Exception as error:
            yield who, name, part, error


def _words(value: Any) -> tuple[str, str]:
    kind = type(value)
    if _plainly(value, "closed") is True:
        return "is a file that is closed", _FILE
    if told := _told(value):
        return f"is {told[0]}", told[1]
    if isinstance(value, (types.FunctionType, type)):
        return "is of this notebook", ""
    return f"is an object of the type {kind.__name__}", _LOCAL


def _told(value: Any) -> tuple[str, str] | None:
    names = (f"{base.__module__}.{base.__qualname__}" for base in type(value).__mro__)
    return next((_WORDS[name] for name in names if name in _WORDS), None)


def _first(error: BaseException) -> str:
    said = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {said[0][:300]}".rstrip(".")


def _parts(value: Any, owner: str, said: str) -> Iterator[tuple[str, str, Any]]:
    """The parts of a value, each as (the function that uses it, what that calls it, the part)."""
    if isinstance(value, types.FunctionType):
        yield from ((value.__name__, name, part) for name, part in _of_function(value))
        return
    for inner in _TRANSPARENT:
        if (part := _plainly(value, inner)) is not None:
            yield owner, said, part
    if isinstance(value, (types.MethodType, types.BuiltinMethodType)):
        yield owner, said, value.__self__
    elif isinstance(value, type):
        name = value.__name__
        yield from ((owner, base.__name__, base) for base in value.__bases__)
        yield from ((owner, f"{name}.{key}", part) for key, part in list(vars(value).items()))
    elif isinstance(value, dict):
        yield from ((owner, f"a key of {said}", key) for key in list(value))
        yield from ((owner, f"{said}[{_short(key)}]", part) for key, part in list(value.items()))
    elif isinstance(value, (set, frozenset)):
        yield from ((owner, f"an element of {said}", part) for part in list(value))
    elif isinstance(value, _SEQUENCES):
        alone = said == "an argument"  # the tuple of all of them
        for number, part in enumerate(value):
            yield owner, said if alone else f"{said}[{number}]", part
    else:
        yield owner, type(value).__name__, type(value)
        yield from ((owner, f"{said}.{key}", part) for key, part in _attributes(value))


def _of_function(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    code, held = function.__code__, function.__globals__
    # global names first, in the order in which they stand in the function
    yield from ((name, held[name]) for name in cloudpickle._extract_code_globals(code)
                if name in held)  # fmt: skip
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        if (part := _plainly(cell, "cell_contents")) is not None:
            yield name, part
    defaults = function.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount]
    yield from zip(names[len(names) - len(defaults) :], defaults, strict=True)
    yield from (function.__kwdefaults__ or {}).items()
    yield from vars(function).items()
    yield from (function.__annotations__ or {}).items()


def _attributes(value: Any) -> list[tuple[str, Any]]:
    """Its attributes; of a library's object not the private ones, whose names nobody would know."""
    found = _all_attributes(value)
    if type(value).__module__ == "__main__":
        return found
    return [(name, part) for name, part in found if not name.startswith("_")]


def _all_attributes(value: Any) -> list[tuple[str, Any]]:
    own = getattr(value, "__dict__", None)
    found = list(own.items()) if isinstance(own, dict) else []
    slots = (name for base in type(value).__mro__ for name in vars(base).get("__slots__", ()))
    found += [(name, getattr(value, name)) for name in slots if hasattr(value, name)]
    if isinstance(value, functools.partial):
        found += [("args", value.args), ("keywords", value.keywords)]
    return found


def _plainly(value: Any, name: str) -> Any:
    try:
        return getattr(value, name, None)
    except Exception:  # an empty cell, or a property of the student's
        return None


def _short(key: Any) -> str:
    return repr(key)[:40] if isinstance(key, (str, int)) else "…"
