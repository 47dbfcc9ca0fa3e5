"""Imports torchvision in a way that works with a CPU build of torch.

torchvision's wheel is a CUDA build. With a CPU torch its compiled operators do not load and the
import dies with "operator torchvision::nms does not exist", although datasets, transforms and
models need none of them. Declaring the two operators that it asks for mends that. Import
torchvision through this module.
"""

from __future__ import annotations

import torch


def _declare_operators() -> None:
    library = torch.library.Library("torchvision", "DEF")
    for name, result in (("nms", "Tensor"), ("qnms", "Tensor")):
        if not hasattr(torch.ops.torchvision, name):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> {result}")
    _kept.append(library)  # when a library is garbage-collected, its operators are gone


_kept: list[torch.library.Library] = []

try:
    import torchvision
except RuntimeError:
    _declare_operators()
    import torchvision

from torchvision import datasets, models, transforms  # noqa: E402

__all__ = ["datasets", "models", "torchvision", "transforms"]
