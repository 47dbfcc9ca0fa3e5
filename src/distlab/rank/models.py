"""Models, as harnesses make them for answers and look at them afterwards."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def set_to(layer: Any, weight: Any, bias: Any = None) -> Any:
    """The layer, with copies of these as its weight and its bias."""
    import torch

    with torch.no_grad():
        layer.weight.copy_(weight)
        if bias is not None:
            layer.bias.copy_(bias)
    return layer


def linear(weight: Any, bias: Any) -> Any:
    """An `nn.Linear` of this weight, of shape (outputs, inputs), and bias, with their dtype and on
    their device.
    """
    from torch import nn

    outputs, inputs = weight.shape
    layer = nn.Linear(inputs, outputs, dtype=weight.dtype, device=weight.device)
    return set_to(layer, weight, bias)


def parameters(model: Any) -> list[Any]:
    """Copies of a model's parameters."""
    return [p.detach().clone() for p in model.parameters()]


def gradients(of: Iterable[Any]) -> list[Any]:
    """Copies of the gradients of these parameters; `None` where there is none."""
    return [None if p.grad is None else p.grad.clone() for p in of]


def in_ddp(model: Any, **options: Any) -> Any:
    """The model on this rank's device, wrapped in DDP; what wrapping it sends goes unrecorded."""
    from torch.nn.parallel import DistributedDataParallel

    from distlab.rank import recording, world

    device = world.here().device
    ids = [device.index] if device.type == "cuda" else None
    with recording.paused():
        return DistributedDataParallel(model.to(device), device_ids=ids, **options)
