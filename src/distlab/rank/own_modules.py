"""Modules beside the notebook, whose files change while its ranks stay warm.

A notebook imports a module of its own again when that has changed (`importlib.reload`,
`%autoreload`), and a function that uses it travels with the module's name. So a rank that has it
from a run before imports it again, too, once its file has changed.
"""

from __future__ import annotations

import importlib
import os
import sys
import sysconfig

from distlab.processes import origin

_LIBRARIES = tuple({sysconfig.get_path(name) for name in ("stdlib", "platlib", "purelib")})
_known: set[str] = set(sys.modules)  # those that have been looked at
_own: dict[str, tuple[str, tuple[int, int]]] = {}  # by module: its file, and how that was then


def note() -> None:
    """Note the files of what a run has imported."""
    for name in sys.modules.keys() - _known:
        _known.add(name)
        file = getattr(sys.modules[name], "__file__", None)
        if isinstance(file, str) and not file.startswith(_LIBRARIES) and not origin.ours(file):
            path = os.path.abspath(file)
            _own[name] = path, _state(path)


def forget_changed() -> bool:
    """Have all of them imported again where the file of one has changed. Has one?"""
    if all(state == _state(file) for file, state in _own.values()):
        return False
    for name in _own:
        sys.modules.pop(name, None)
    _known.difference_update(_own)
    _own.clear()
    importlib.invalidate_caches()
    return True


def _state(file: str) -> tuple[int, int]:
    try:
        found = os.stat(file)
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size
