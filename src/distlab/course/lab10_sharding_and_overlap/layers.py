"""The layer that lab 10 gives, and a way to be told of each call of it.

with watched(lambda weight: print("called with", weight.shape)):
    layer(x, weight, bias)
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import torch
from torch.nn import functional

_watching: list[Callable[[torch.Tensor], None]] = []


def layer(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """tanh(x·weightᵀ + bias).

    Args:
        x: (rows, in). weight: (out, in). bias: (out,).

    Returns:
        (rows, out).
    """
    for told in list(_watching):
        told(weight)
    return torch.tanh(functional.linear(x, weight, bias))


@contextlib.contextmanager
def watched(told: Callable[[torch.Tensor], None]) -> Iterator[None]:
    """Call `told` with the weight whenever `layer` is called in this process."""
    _watching.append(told)
    try:
        yield
    finally:
        _watching.remove(told)
