"""Tells by its file whether code is this library's.

Messages show the student's own lines; frames of this library, of torch and of Python are left out.
"""

from __future__ import annotations

import os
from importlib.util import find_spec

from distlab.processes.entry_points import RECORDING_MODULES

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def ours(file: str) -> bool:
    """Is this file a part of distlab?"""
    return file.startswith(ROOT)


def recording() -> frozenset[str]:
    """The files that stand between a call to torch.distributed and its record."""
    return frozenset(map(_file, RECORDING_MODULES))


def _file(name: str) -> str:
    spec = find_spec(name)
    assert spec is not None and spec.origin is not None, name
    return spec.origin
