"""distlab: a lab course on distributed deep learning that checks itself."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "Ranks": "ranks",
    "each": "ranks",
    "RunFailed": "results",
    "check": "check",
    "timeline": "timeline",
    "submit": "slurm",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for and nothing else: `import distlab` takes no time."""
    if name not in _HOME:
        raise AttributeError(f"module 'distlab' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"distlab.{_HOME[name]}"), name)
    globals()[name] = value
    return value


class _Package(ModuleType):
    """This package: `distlab.check` is the function also when its module is imported first.

    An import binds a submodule's name in its package, whatever stood there.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _HOME and isinstance(value, ModuleType):
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
