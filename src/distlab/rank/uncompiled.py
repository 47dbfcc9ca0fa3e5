"""Methods that torch.compile calls as they are, as it does with the C++ for which they stand."""

from __future__ import annotations

import types
from typing import TypeVar

from torch._C._dynamo import eval_frame

Kind = TypeVar("Kind", bound=type)


def uncompiled(kind: Kind) -> Kind:
    """A class none of whose methods, and nothing that these call, is compiled.

    That is what `torch.compiler.disable` does. It imports `torch._dynamo`, which takes seconds;
    this does not.
    """
    skip = eval_frame._FrameAction.SKIP
    for method in vars(kind).values():
        if isinstance(method, types.FunctionType):
            method._torchdynamo_disable = True  # type: ignore[attr-defined]
            strategy = eval_frame._FrameExecStrategy(skip, skip)
            eval_frame.set_code_exec_strategy(method.__code__, strategy)
    return kind
