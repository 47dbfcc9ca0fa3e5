"""Functions by value, as `cloudpickle` takes them, and what modules hold by its name.

A function of a notebook travels by value, with the globals that it uses. cloudpickle copies these,
too: after `from random import seed` it sends a copy of Python's generator, and the rank seeds that
copy. So here whatever is an attribute of an importable module travels as that attribute: methods of
an object that a module holds, `os.environ`, `torch.backends.cudnn`, Horovod's `rank`. What
`__main__` or a module sent by value has defined travels by value, whatever other modules hold it.
What pickle cannot send is made anew where it arrives (`made_anew`) or refused with a reason
(`unsent`).
"""

from __future__ import annotations

import builtins
import contextlib
import dis
import io
import sys
import sysconfig
import types
from collections.abc import Callable, Iterable
from typing import Any

import cloudpickle

from distlab.engines import made_anew, unsent
from distlab.engines.unsent import NotSent as NotSent
from distlab.processes import origin

#: never looked for in modules: what has no identity of its own, or never travels by a module's name
_PLAIN = {
    bool, int, float, complex, str, bytes, tuple, frozenset, type(None),
    types.ModuleType, types.CodeType, types.CellType,
}  # fmt: skip
#: what pickle takes by value without asking its reducers: of a function's globals, containers of
#: these types are looked for in modules before it is asked
_CONTAINERS = (list, dict, set, bytearray)
ANSWER_LIMIT = (16 << 20) - (1 << 16)  # bytes: a message of 16 MB has room for it
_imported: dict[str, types.ModuleType] = {}  # by Python's own loaders, as of the last look
_READS = ("LOAD_GLOBAL", "LOAD_NAME")
_LIBRARIES = tuple({sysconfig.get_path(name) for name in ("stdlib", "platlib", "purelib")})


def dumps(value: Any) -> bytes:
    """`cloudpickle.dumps`, with attributes of importable modules sent by their names.

    `pickle.loads` reads it where `distlab` and these modules can be imported. What a notebook
    defines that `notebook.load` has made a module of travels by value: nobody can import that.

    Raises:
        NotSent: a part of it means something in this process only.
    """
    return taken(value)[0]


def taken(value: Any) -> tuple[bytes, frozenset[str]]:
    """What `dumps` gives, and the global names that functions in it use and nothing defines yet.

    Raises:
        NotSent: a part of it means something in this process only.
    """
    _register_notebooks()
    _look_at_own()
    try:
        return _pickled(value)
    except MemoryError:
        raise
    except Exception as error:
        told = unsent.explained(value, error, _pickled)
    raise told  # without what pickle went through


def need_room(name: str, pickled: bytes) -> None:
    """Refuse an answer that is too large to be graded.

    Args:
        name: of its exercise.

    Raises:
        NotSent: it has too many bytes.
    """
    if len(pickled) > ANSWER_LIMIT:
        raise NotSent(
            f"What {name} uses of the notebook has {len(pickled) / 2**20:.0f} MB, more than the "
            f"{ANSWER_LIMIT / 2**20:.0f} MB that an answer may have: make it inside {name}."
        )


def _pickled(value: Any) -> tuple[bytes, frozenset[str]]:
    with io.BytesIO() as file:
        pickler = _Pickler(file)
        pickler.dump(value)
        return file.getvalue(), frozenset(pickler.lacking)


def _register_notebooks() -> None:
    """Have what `notebook.load` made modules of travel by value from now on. (The registry is the
    process's: to take them out after each function would take them from another thread's.)
    """
    # there are thousands at each check: those that Python's own loaders made are not asked again
    known = _imported.get
    new = [(name, one) for name, one in _items(sys.modules) if known(name) is not one]
    for name, module in new:
        if not issubclass(type(module), types.ModuleType):
            continue
        contents = _contents(module)
        if contents.get("__spec__") is not None:
            _imported[name] = module
        elif contents.get("__name__") == name and str(contents.get("__file__")).endswith(".ipynb"):
            with contextlib.suppress(ValueError):  # another thread has removed it meanwhile
                cloudpickle.register_pickle_by_value(module)


class _Reference:
    """Stands for an attribute of a module while it is pickled."""

    def __init__(self, module: str, name: str) -> None:
        self._place = module, name

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str, str]]:
        return made_anew.attribute, self._place


def _same_memory(storage: Any, dtype: Any) -> Any:
    """A storage of torch's, as a tensor of another dtype sees it."""
    return type(storage)(wrap_storage=storage._untyped_storage, dtype=dtype, _internal=True)


def _bytes_of(storage: Any) -> Any:
    """The memory that a storage of torch's refers to, which has no dtype."""
    return storage._untyped_storage


class _Pickler(cloudpickle.CloudPickler):
    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file)
        self.lacking: set[str] = set()
        self._variables: dict[int, types.CellType] = {}  # of closures, by the id of the cell here
        self._memories: dict[int, Any] = {}  # of tensors, by their addresses in torch

    def reducer_override(self, obj: Any) -> Any:
        reduced = super().reducer_override(obj)
        if isinstance(obj, (types.FunctionType, type)) and reduced is NotImplemented:
            return NotImplemented  # by its own name
        place = _place_of(obj)
        if place:
            return made_anew.attribute, place
        return self._made_anew(obj) if reduced is NotImplemented else reduced

    def _made_anew(self, obj: Any) -> Any:
        kind: Any = type(obj)  # hashable, which mypy does not know
        if kind.__module__ == "torch.storage":
            if kind.__name__ == "TypedStorage":
                return self._memory(obj)
            if kind.__name__ == "UntypedStorage":  # torch writes one that it cannot read
                return _bytes_of, (self._first(obj),)
        way, writes = made_anew.way_of(kind)
        if writes and (name := made_anew.stream(obj)):
            return made_anew.attribute, ("sys", name)
        return NotImplemented if way is None or _named(obj) else way(obj)

    def _memory(self, storage: Any) -> Any:
        """Memory that tensors share (a tensor and its views) is sent once, and shared there too."""
        first = self._memories.setdefault(storage._untyped_storage._cdata, storage)
        return NotImplemented if first is storage else (_same_memory, (first, storage.dtype))

    def _first(self, memory: Any) -> Any:
        """The storage by which this memory is sent."""
        import torch

        made = torch.TypedStorage(wrap_storage=memory, dtype=torch.uint8, _internal=True)
        return self._memories.setdefault(memory._cdata, made)

    def _dynamic_function_reduce(self, func: types.FunctionType) -> tuple[Any, ...]:
        if anew := made_anew.function(func):
            return anew
        used = cloudpickle.cloudpickle._extract_code_globals(func.__code__)
        held, everywhere = func.__globals__, vars(builtins)
        lacking = {name for name in used if name not in held and name not in everywhere}
        if lacking:
            self.lacking |= lacking & _read(func.__code__)
        made, (*arguments, empty), (own, slots), *rest = super()._dynamic_function_reduce(func)
        slots["__globals__"] = {
            name: _shared(value) for name, value in slots["__globals__"].items()
        }
        return (made, (*arguments, self._closure(func, empty)), (own, slots), *rest)

    def _closure(
        self, func: types.FunctionType, empty: tuple[types.CellType, ...] | None
    ) -> tuple[types.CellType, ...] | None:
        """The empty cells of a function's closure, which are filled where it arrives. A variable
        that several functions share is one cell there, too; cloudpickle would give each its own.
        """
        if empty is None:
            return None
        pairs = zip(func.__closure__ or (), empty, strict=True)
        return tuple(self._variables.setdefault(id(own), new) for own, new in pairs)


def _read(code: types.CodeType) -> set[str]:
    """The global names that a function, or one inside it, reads."""
    found = {one.argval for one in dis.get_instructions(code) if one.opname in _READS}
    inner = (const for const in code.co_consts if isinstance(const, types.CodeType))
    return found.union(*map(_read, inner))


def _shared(value: Any) -> Any:
    """A container that an installed module holds (`sys.path`) as a reference to it, anything else
    as it is. Containers of one's own modules stay data: the notebook may have changed them.
    """
    place = _place_of(value) if type(value) in _CONTAINERS else None
    return _Reference(*place) if place and _installed(sys.modules[place[0]]) else value


def _place_of(obj: Any) -> tuple[str, str] | None:
    """(module, attribute) under which this very object can be imported."""
    if type(obj) is types.ModuleType and sys.modules.get(obj.__name__) is not obj:
        return _place_above(obj)
    if type(obj) in _PLAIN:
        return None
    if issubclass(type(obj), types.ModuleType):
        return _place_of_module(obj)
    if _defined_here(obj):
        return None
    place = _places().get(id(obj))
    if place is None or _still(place, obj):
        return place
    # something else has taken its name; the module may hold it under another one
    held = _items(_contents(sys.modules.get(place[0])))
    name = next((name for name, one in held if one is obj), None)
    return None if name is None else (place[0], name)


def _place_of_module(module: types.ModuleType) -> tuple[str, str] | None:
    """Modules of classes of their own, which cloudpickle cannot send: `torch.backends.cudnn`."""
    found = (name for name, one in _items(sys.modules) if one is module)
    name = next(found, None)
    return (name, "") if name else _place_above(module)


def _place_above(module: types.ModuleType) -> tuple[str, str] | None:
    """Modules that are not in `sys.modules` and that another one holds: `torch.ops.aten`."""
    above, _, rest = str(_contents(module).get("__name__", "")).rpartition(".")
    while above:
        if (parent := sys.modules.get(above)) is not None:
            return (above, rest) if _reached(parent, rest) is module else None
        above, _, last = above.rpartition(".")
        rest = f"{last}.{rest}"
    return None


def _reached(module: types.ModuleType, path: str) -> Any:
    """What is found at a dotted path of modules, without asking any of them for attributes."""
    found: Any = module
    for name in path.split("."):
        if not issubclass(type(found), types.ModuleType):
            return None
        found = _contents(found).get(name)
    return found


def _named(obj: Any) -> bool:
    """Does pickle find this object under its own name, in a module that travels by name?"""
    name = getattr(obj, "__qualname__", None) or getattr(obj, "__name__", None)
    module = sys.modules.get(getattr(obj, "__module__", None) or "")
    if not isinstance(name, str) or module is None or not _travels_by_name(_contents(module)):
        return False
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is obj


def _defined_here(obj: Any) -> bool:
    """Was this object, or its class, defined in a module that travels by value?"""
    kind = type(obj)
    owner = obj.__self__ if kind in (types.MethodType, types.BuiltinMethodType) else obj
    if not issubclass(type(owner), (types.FunctionType, type)):
        owner = type(owner)
    home = owner.__module__
    return home == "__main__" or not _travels_by_name(_contents(sys.modules.get(home)))


_known: dict[int, tuple[str, str]] = {}
_looked_at: dict[str, tuple[Any, int]] = {}  # modules, and how many objects each held
_own: set[str] = set()  # of them, those beside the notebook, which may be reloaded
_seen = 0  # how many modules there were at the last look


def _places() -> dict[int, tuple[str, str]]:
    """Where everything that importable modules hold is found, by its `id`. When modules have been
    imported since the last time, only those that are new, or hold more or less than they did, are
    looked at.
    """
    global _seen
    if _seen != len(sys.modules):
        for name, module in _changed():
            _look_at(name, module)
        _seen = len(sys.modules)
    return _known


def _look_at(name: str, module: Any) -> None:
    for attribute, value in _items(_contents(module)):
        # its type is asked, not its __class__: asking that can run anything
        if type(value) not in _PLAIN and not _still(_known.get(id(value)), value):
            _known[id(value)] = name, attribute


def _look_at_own() -> None:
    """Look again at modules beside the notebook: one that has been reloaded holds as many objects
    as before, and others.
    """
    for name in _own.copy():  # another thread may find more
        module = sys.modules.get(name)
        if _importable(_contents(module)):
            _look_at(name, module)


def _importable(contents: dict[str, Any]) -> bool:
    return contents.get("__spec__") is not None and _travels_by_name(contents)


def _still(place: tuple[str, str] | None, obj: Any) -> bool:
    """Is this very object there? Its id may have been that of another one, which is gone."""
    return place is not None and _contents(sys.modules.get(place[0])).get(place[1]) is obj


def prepare() -> None:
    """Look at all modules now, so that processes forked from this one need not."""
    _places()
    _register_notebooks()


def _changed() -> list[tuple[str, Any]]:
    """The importable modules that are to be looked at: installed ones first, and packages before
    the modules inside them.
    """
    found = []
    for name, module in _items(sys.modules):
        if not issubclass(type(module), types.ModuleType):
            continue
        contents = _contents(module)
        before, held = _looked_at.get(name, (None, 0))
        if before is module and held == len(contents):
            continue
        if _importable(contents):
            _looked_at[name] = module, len(contents)
            found.append((not _installed(module), name.count("."), name, module))
    own = [(name, _contents(module)["__file__"]) for own, _, name, module in found if own]
    _own.update(name for name, file in own if not origin.ours(file))
    return [item[2:] for item in sorted(found, key=lambda item: item[:2])]


def _travels_by_name(contents: dict[str, Any]) -> bool:
    """Can a module with these contents be imported elsewhere? Not `__main__`, one made by
    `notebook.load` (it has a file and no spec), or one registered to travel by value.
    """
    name = str(contents.get("__name__", ""))
    if name in ("__main__", "__mp_main__"):
        return False
    if contents.get("__spec__") is None and contents.get("__file__"):
        return False
    by_value = cloudpickle.list_registry_pickle_by_value()
    return not any(name == other or name.startswith(f"{other}.") for other in by_value)


def _installed(module: Any) -> bool:
    """Does it come with Python, or from where packages are installed?"""
    file = _contents(module).get("__file__")
    return not isinstance(file, str) or file.startswith(_LIBRARIES)


def _contents(module: Any) -> dict[str, Any]:
    """What a module holds. (Asking a lazy module for an attribute would make it load itself.)"""
    return {} if module is None else object.__getattribute__(module, "__dict__")


def _items(held: dict[str, Any]) -> Iterable[tuple[str, Any]]:
    """What a dict holds now: another thread may import something meanwhile. (To make a list of it
    can collect garbage, at whose end other threads have their turn; to copy a dict cannot.)
    """
    return held.copy().items()
