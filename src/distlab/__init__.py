"""distlab: a lab course on distributed deep learning that checks itself."""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "Ranks": "ranks",
    "each": "ranks",
    "RunFailed": "ranks",
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
