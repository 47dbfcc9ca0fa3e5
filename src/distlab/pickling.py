"""Functions by value, as `cloudpickle` takes them, those that touch `torch.backends` included.

`torch.backends.cudnn` and its like are modules of a class of their own, which cloudpickle cannot
send; a function that sets `torch.backends.cudnn.deterministic` would not travel.
"""

from __future__ import annotations

import copyreg
import importlib
import sys
import types
from typing import Any

import cloudpickle


def dumps(value: Any) -> bytes:
    """`cloudpickle.dumps`, with odd modules of torch sent by their names."""
    for name, module in list(sys.modules.items()):
        if name.startswith("torch.backends.") and type(module) is not types.ModuleType:
            copyreg.pickle(type(module), _by_name)
    return cloudpickle.dumps(value)


def _by_name(module: types.ModuleType):
    names = (name for name, found in list(sys.modules.items()) if found is module)
    return importlib.import_module, (next(names, module.__name__),)
