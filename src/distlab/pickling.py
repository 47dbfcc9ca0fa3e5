"""Functions by value, as `cloudpickle` takes them, those that touch `torch.backends` included.

Some of torch's modules (`torch.backends.cudnn`, `torch.ops`, `torch.classes`) are of classes of
their own, which cloudpickle cannot send. It takes a function to use one where the function only
has a name such as `classes` in it, beside `torch`. And Horovod's `rank`, imported by name, is a
method of an object that holds the loaded library.
"""

from __future__ import annotations

import copyreg
import importlib
import sys
import types
from typing import Any

import cloudpickle


def dumps(value: Any) -> bytes:
    """`cloudpickle.dumps`, with torch's odd modules sent by their names."""
    for name, module in list(sys.modules.items()):
        kind = type(module)
        odd = kind is not types.ModuleType and issubclass(kind, types.ModuleType)
        if odd and name.startswith("torch"):
            copyreg.pickle(kind, _by_name)
    basics = sys.modules.get("horovod.common.basics")
    if basics is not None:
        copyreg.pickle(basics.HorovodBasics, _basics_by_framework)
    return cloudpickle.dumps(value)


def _basics_by_framework(basics: Any):
    """What `hvd.rank` and the like are methods of, of PyTorch's or of TensorFlow's Horovod."""
    places = [name for name in list(sys.modules) if name.endswith(".mpi_ops")]
    place = next(n for n in places if getattr(sys.modules[n], "_basics", None) is basics)
    return _attribute, (place, "_basics")


def _attribute(module: str, name: str) -> Any:
    return getattr(importlib.import_module(module), name)


def _by_name(module: types.ModuleType):
    names = (name for name, found in list(sys.modules.items()) if found is module)
    return importlib.import_module, (next(names, module.__name__),)
