"""What happens to the buffers of an operation: by way of the CPU, or poisoned until its wait."""

from __future__ import annotations

import os
import sys

import torch
from torch.distributed import distributed_c10d as c10d

_TORCH = os.path.dirname(torch.__file__) + os.sep
_RECORDED = os.path.join(os.path.dirname(__file__), "recorded.py")
_C10D = c10d.__file__


def is_irecv() -> bool:
    """Was the receive under way asked for by `irecv` (and not inside a blocking `recv`)?"""
    frame = sys._getframe(2)
    while frame is not None:
        file = frame.f_code.co_filename
        if not (file == _RECORDED or file.startswith(_TORCH)):
            break
        if frame.f_code.co_name == "recv" and file == _C10D:
            return False
        frame = frame.f_back
    return True


def poison(tensor: torch.Tensor) -> None:
    """Fill a buffer with what nobody takes for a result: NaN, or the smallest integer."""
    with torch.no_grad():
        flat = tensor.detach()
        if flat.is_floating_point() or flat.is_complex():
            flat.fill_(float("nan"))
        elif flat.dtype is not torch.bool and flat.dtype is not torch.uint8:
            flat.fill_(torch.iinfo(flat.dtype).min)


def staged(args):
    """CUDA tensors of nested lists by way of the CPU: (arguments, what copies them back)."""
    pairs = []

    def down(value):
        if isinstance(value, torch.Tensor) and value.is_cuda:
            pairs.append((value, value.cpu()))
            return pairs[-1][1]
        return [down(v) for v in value] if isinstance(value, (list, tuple)) else value

    args = tuple(down(value) for value in args)

    def up(_):
        with torch.no_grad():
            for device, host in pairs:
                device.copy_(host)

    return args, up
