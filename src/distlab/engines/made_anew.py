"""Objects that pickle cannot send and another process can make for itself, just as good: a lock, an
executor, a function with a cache.

Each way returns what `__reduce__` would, or `NotImplemented` where pickle's own way is right. An
object that is referred to several times arrives as one object, and may refer to itself.
"""

from __future__ import annotations

import contextlib
import contextvars
import copyreg
import functools
import gc
import importlib
import os
import queue
import struct
import sys
import threading
import types
import typing
from collections.abc import Callable
from typing import Any

Way = Callable[[Any], Any]
_STREAMS = ("stdout", "stderr", "stdin", "__stdout__", "__stderr__", "__stdin__")
#: a function that `functools.singledispatch` makes has this code
_DISPATCHING = functools.singledispatch(print).__code__  # type: ignore[attr-defined]  # a function
_TEE = "InteractiveShell._tee.<locals>.write"  # of IPython
_MADE_BY_DISPATCH = {"register", "dispatch", "registry", "_clear_cache"}


@functools.lru_cache(maxsize=128)
def way_of(kind: type) -> tuple[Way | None, bool]:
    """How instances of this class are made anew, and whether one may be a standard stream. Classes
    are known by the names of their bases, so that nothing has to be imported for it.
    """
    names = (f"{base.__module__}.{base.__qualname__}" for base in kind.__mro__)
    way = next((_WAYS[name] for name in names if name in _WAYS), None)
    return way, hasattr(kind, "readline")


def stream(obj: Any) -> str:
    """The name in `sys` of a standard stream, of which every process has its own; "" for others."""
    return next((name for name in _STREAMS if getattr(sys, name, None) is obj), "")


def function(function: types.FunctionType) -> tuple[Any, ...] | None:
    """How a function that a library's function has made is made anew; `None` for any other."""
    if function.__code__ is _DISPATCHING:
        return _dispatching(function)
    if function.__qualname__ == _TEE:  # while a cell runs, this is `sys.stdout.write`
        held = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        write = held["original_write"].cell_contents
        if stream(write.__self__):
            return getattr, (write.__self__, write.__name__)
    return None


def _dispatching(function: types.FunctionType) -> tuple[Any, ...]:
    """A function of `functools.singledispatch`, with what is registered with it."""
    entered = dict(function.registry)  # type: ignore[attr-defined]  # typeshed: a plain function
    own = {name: value for name, value in vars(function).items() if name not in _MADE_BY_DISPATCH}
    state = own, list(entered.items())
    return functools.singledispatch, (entered[object],), state, None, None, _register


def _register(function: Any, state: tuple[dict[str, Any], list[tuple[type, Any]]]) -> None:
    own, entered = state
    for kind, implementation in entered:
        function.register(kind, implementation)
    vars(function).update(own)


def _cached(obj: Any) -> Any:
    """A function with a cache, which arrives empty. Not made of its `__wrapped__`, which may be
    another function than the one that it calls.
    """
    called = next(
        one
        for one in reversed(gc.get_referents(obj))
        if callable(one) and getattr(one, "__module__", "") != "functools"
        or isinstance(one, functools.partial)
    )  # fmt: skip
    own = {name: value for name, value in vars(obj).items() if name != "cache_parameters"}
    return _cache, (called, *obj.cache_parameters().values()), own


def _cache(function: Callable[..., Any], maxsize: int | None, typed: bool) -> Any:
    return functools.lru_cache(maxsize, typed)(function)


def _key(obj: Any) -> Any:
    compare = [one for one in gc.get_referents(obj) if callable(one) and one is not type(obj)]
    return (functools.cmp_to_key, (compare[0],)) if len(compare) == 1 else NotImplemented


def _variable(obj: contextvars.ContextVar[Any]) -> Any:
    default: dict[str, Any] = {}
    with contextlib.suppress(LookupError):
        default["default"] = contextvars.Context().run(obj.get)
    value = [obj.get()] if obj in contextvars.copy_context() else []
    return _context_variable, (obj.name, default, value)


def _context_variable(name: str, default: dict[str, Any], value: list[Any]) -> Any:
    made: contextvars.ContextVar[Any] = contextvars.ContextVar(name, **default)
    for one in value:
        made.set(one)
    return made


def _per_thread(obj: threading.local) -> Any:
    """A `threading.local` as this thread sees it: cells and ranks run in their main thread."""
    return copyreg.__newobj__, (type(obj),), dict(vars(obj))  # type: ignore[attr-defined]  # no stub


def _executor(obj: Any) -> Any:
    if type(obj).__init__.__module__ != "concurrent.futures.thread":
        return NotImplemented  # what a class of the notebook's own is called with is not known
    own = obj._max_workers, obj._thread_name_prefix, obj._initializer, obj._initargs
    return _ready, (type(obj), own, obj._shutdown)


def _process_executor(obj: Any) -> Any:
    if type(obj).__init__.__module__ != "concurrent.futures.process":
        return NotImplemented
    own = obj._max_workers, obj._mp_context, obj._initializer, obj._initargs
    return _ready, (type(obj), own, obj._shutdown_thread)


def _ready(kind: Any, arguments: tuple[Any, ...], over: bool) -> Any:
    made = kind(*arguments)
    if over:
        made.shutdown()
    return made


def _context(obj: Any) -> Any:
    """A context manager of `contextlib.contextmanager`. One that has been entered has nothing left
    to be made from.
    """
    begun = not hasattr(obj, "func")
    return NotImplemented if begun else (type(obj), (obj.func, obj.args, obj.kwds))


def _text(obj: Any) -> Any:
    if obj.closed or obj.name != os.devnull:
        return NotImplemented
    return open, (os.devnull, obj.mode)


def attribute(module: str, name: str) -> Any:
    """What `module` holds under `name`, which may have dots; itself where `name` is empty."""
    found = importlib.import_module(module)
    return functools.reduce(getattr, name.split("."), found) if name else found


def _method(obj: types.MethodType) -> Any:
    """A method of a standard stream, which may be of another class in the other process."""
    return (getattr, (obj.__self__, obj.__name__)) if stream(obj.__self__) else NotImplemented


def _exception(obj: BaseException) -> Any:
    """An exception whose class has its own `__init__`: pickle would call that with `args`, which is
    what it gave to `super().__init__`.
    """
    kind = type(obj)
    plain = kind.__reduce__ is BaseException.__reduce__ and isinstance(
        kind.__init__, types.FunctionType
    )
    return (_raised, (kind, obj.args), vars(obj)) if plain else NotImplemented


def _raised(kind: type[BaseException], arguments: tuple[Any, ...]) -> BaseException:
    return kind.__new__(kind, *arguments)


def _parameter(obj: Any) -> Any:
    options = {
        name: getattr(obj, f"__{name}__")
        for name in ("bound", "covariant", "contravariant")
        if getattr(obj, f"__{name}__", None)
    }
    return _typed, (type(obj), obj.__name__, obj.__module__, options)


def _typed(kind: Any, name: str, module: str, options: dict[str, Any]) -> Any:
    made = kind(name, **options)
    made.__module__ = module
    return made


def _alias(kind: Any, name: str, value: Any, parameters: tuple[Any, ...]) -> Any:
    return kind(name, value, type_params=parameters)


def _operator(obj: Any) -> Any:
    """An operator of torch, by its name. One that the notebook has registered is refused: no other
    process has it.
    """
    registered = sys.modules.get("torch._library.custom_ops")
    name = obj._qualified_op_name.partition(".")[0] if hasattr(obj, "_qualified_op_name") else ""
    path = name or obj._name.partition(".")[0]
    if registered is not None and path in registered.OPDEFS:
        raise TypeError("an operator of this process")
    named = f"ops.{path.replace('::', '.')}"
    if hasattr(obj, "_overloadname"):
        named += f".{obj._overloadname}"
    return attribute, ("torch", named)


def _thread(obj: threading.Thread) -> Any:
    if obj is threading.main_thread():
        return threading.main_thread, ()
    if obj.ident is not None:
        raise TypeError("a thread that has been started")
    own = {name: value for name, value in vars(obj).items() if name not in _OF_THIS_PROCESS}
    return _to_begin, (type(obj),), own


#: attributes of a thread not yet started that belong to the process it was made in
_OF_THIS_PROCESS = {"_invoke_excepthook", "_stderr", "_started", "_tstate_lock", "_handle"}


def _to_begin(kind: type[threading.Thread]) -> threading.Thread:
    made = kind.__new__(kind)
    threading.Thread.__init__(made)
    return made


def _future(obj: Any) -> Any:
    if not obj.done():
        raise TypeError("a result that is still to come")
    return NotImplemented


def _simple_queue(obj: Any) -> Any:
    if not obj.empty():
        raise TypeError("a queue that cannot be read without taking what is in it")
    return queue.SimpleQueue, ()


def _refused(obj: Any) -> Any:
    """It holds a number or an address that means something in this process only."""
    raise TypeError(f"cannot pickle {type(obj).__name__!r} object")


_WAYS: dict[str, Way] = {
    "functools._lru_cache_wrapper": _cached,
    "functools.KeyWrapper": _key,
    "_thread.lock": lambda obj: (threading.Lock, ()),
    "_thread.RLock": lambda obj: (threading.RLock, ()),
    "threading.Condition": lambda obj: (type(obj), (obj._lock,)),
    "_thread._local": _per_thread,
    "threading.Thread": _thread,
    "_contextvars.ContextVar": _variable,
    "_queue.SimpleQueue": _simple_queue,
    "concurrent.futures.thread.ThreadPoolExecutor": _executor,
    "concurrent.futures.process.ProcessPoolExecutor": _process_executor,
    "concurrent.futures._base.Future": _future,
    "multiprocessing.pool.ThreadPool": lambda obj: (
        type(obj), (obj._processes, obj._initializer, obj._initargs),
    ),
    "contextlib._GeneratorContextManagerBase": _context,
    "_io.TextIOWrapper": _text,
    "builtins.method": _method,
    "builtins.BaseException": _exception,
    "typing.ParamSpec": _parameter,
    "typing.TypeVarTuple": _parameter,
    "typing_extensions.TypeVarTuple": _parameter,
    "typing.NewType": lambda obj: (
        typing.NewType, (obj.__name__, obj.__supertype__), dict(vars(obj)),
    ),
    "typing.TypeAliasType": lambda obj: (
        _alias, (type(obj), obj.__name__, obj.__value__, obj.__type_params__),
    ),
    "weakref.WeakKeyDictionary": lambda obj: (type(obj), (), None, None, iter(list(obj.items()))),
    "weakref.WeakValueDictionary": lambda obj: (type(obj), (), None, None, iter(list(obj.items()))),
    "_struct.Struct": lambda obj: (struct.Struct, (obj.format,)),
    "random.SystemRandom": lambda obj: (type(obj), ()),
    "torch.finfo": lambda obj: (_limits, ("finfo", obj.dtype)),
    "torch.iinfo": lambda obj: (_limits, ("iinfo", obj.dtype)),
    "numpy.finfo": lambda obj: (type(obj), (obj.dtype,)),
    "torch._ops.OpOverloadPacket": _operator,
    "torch._ops.OpOverload": _operator,
    "subprocess.Popen": _refused,
    "ctypes.CDLL": _refused,
}  # fmt: skip


def _limits(kind: str, dtype: str) -> Any:
    import torch

    return getattr(torch, kind)(getattr(torch, dtype))
