"""Modules beside the notebook, whose files change while its ranks stay warm.

A notebook imports a module of its own again when that has changed (`importlib.reload`,
`%autoreload`), and a function that uses it travels with the module's name. So a rank that has it
from a run before imports it again, too, once its file has changed.
"""

from __future__ import annotations

import importlib
import linecache
import os
import sys
import sysconfig
import time
import types
from typing import Any

from distlab.processes import origin

_LIBRARIES = tuple({sysconfig.get_path(name) for name in ("stdlib", "platlib", "purelib")})
_INSTALLED = ("site-packages", "dist-packages")  # of a user, of a cluster: wherever they lie
_OTHERWISE = 0, 0  # the state of no file
_known: set[str] = set(sys.modules)  # modules that have been looked at
_own: dict[str, tuple[str, tuple[int, int]]] = {}  # by module: its file, and the file's state then
_folders: set[str] = set()  # packages without a file, which keep the modules in them
_begun = 0  # when the last run did, in nanoseconds


def find_beside(folder: str = "") -> None:
    """Have modules found in a folder, that of the process if none is named, where IPython looks for
    them: behind Python's own, which no `profile.py` replaces there, and before what is installed.
    """
    if folder not in sys.path:
        places = (n for n, path in enumerate(sys.path) if os.path.basename(path) in _INSTALLED)
        sys.path.insert(next(places, len(sys.path)), folder)


def note() -> None:
    """Note the files of what a run has imported."""
    for name in sys.modules.keys() - _known:
        _known.add(name)
        contents = _contents(sys.modules.get(name))
        file = contents.get("__file__")
        if isinstance(file, str) and file.endswith(".py") and _is_own(file):
            path = os.path.abspath(file)
            if (state := _state(path)) is not None:
                # written since the run began: after it was imported, perhaps
                _own[name] = path, state if state[0] < _begun else _OTHERWISE
        elif file is None and all(map(_is_own, contents.get("__path__") or [""])):
            _folders.add(name)


def forget_changed() -> bool:
    """At the begin of a run: where the file of one has changed, have all imported again. Has one?

    A module whose file is gone stays, as it does in the notebook, and so does one that is not
    Python, as most of those can be imported only once. A package of which a part stays does, too.
    """
    global _begun
    _begun = time.time_ns()
    now = {name: state for name, (file, _) in _own.items() if (state := _state(file)) is not None}
    if all(_own[name][1] == state for name, state in now.items()):
        return False
    leaving = now.keys() | _folders
    staying = {_package(name) for name in sys.modules.keys() - leaving}
    for name in leaving:
        if _package(name) not in staying:
            sys.modules.pop(name, None)
            _known.discard(name)
            _own.pop(name, None)
            _folders.discard(name)
        elif name in now:
            _own[name] = _own[name][0], now[name]
    linecache.checkcache()  # or what they raise would be told with lines of the old ones
    importlib.invalidate_caches()
    return True


def _package(name: str) -> str:
    return name.partition(".")[0]


def _is_own(path: str) -> bool:
    """Does it lie beside the notebook, or at least not where others' software does?"""
    installed = path.startswith(_LIBRARIES) or any(part in path for part in _INSTALLED)
    return bool(path) and not installed and not origin.ours(path)


def _contents(module: Any) -> dict[str, Any]:
    """What a module holds, without waking one that loads itself when it is asked."""
    known = issubclass(type(module), types.ModuleType)
    return object.__getattribute__(module, "__dict__") if known else {}


def _state(file: str) -> tuple[int, int] | None:
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
