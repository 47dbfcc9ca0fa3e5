"""Names that torch binds as soon as something else of it has been imported.

`torch.distributed.nn`, say, is there for whoever says `import torch.distributed` once any optimizer
has been made, because that imports `torch._dynamo`. Ranks that are forked before it was imported
(`distlab.engines.warm`) have these names as well: whoever asks for one imports it then.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable
from typing import Any

#: by module, those of its submodules that are bound once all that ranks have is imported, as
#: PyTorch 2.13 does it. What another one lacks is an AttributeError, as it would be without
LATE = {
    "ctypes": ("util", "wintypes"),
    "torch": ("_numpy",),
    "torch.cuda": ("_pin_memory_utils",),
    "torch.distributed": (
        "_composable", "_composable_state", "_functional_collectives",
        "_functional_collectives_impl", "_local_tensor", "_shard", "_state_dict_utils",
        "_symmetric_memory", "fsdp", "nn", "tensor",
    ),
    "torch.distributed.algorithms": ("_checkpoint", "_comm_hooks"),
    "torch.fx.experimental": (
        "_dynamism", "_size_hinting", "dynamic_spec", "recording", "symbolic_shapes",
    ),
    "torch.fx.passes": ("graph_transform_observer",),
    "torch.nn.utils": ("_expanded_weights",),
    "torch.utils": ("_functools", "_pallas", "_sympy", "_triton", "model_zoo"),
}  # fmt: skip


def prepare() -> None:
    """Let this process's modules find them, from now on."""
    for name in LATE:
        if (module := sys.modules.get(name)) is not None:
            before = vars(module).get("__getattr__")
            vars(module)["__getattr__"] = functools.partial(_found, name, before)


def _found(module: str, before: Callable[[str], Any] | None, name: str) -> Any:
    """A module's attribute that is not bound (PEP 562)."""
    if name in LATE[module]:
        try:
            return importlib.import_module(f"{module}.{name}")
        except ModuleNotFoundError:
            pass
    if before is not None:
        return before(name)
    raise AttributeError(f"module {module!r} has no attribute {name!r}")
