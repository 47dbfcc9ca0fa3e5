"""What is done to an operation's buffers: staged through the CPU, or poisoned until its wait."""

from __future__ import annotations

import os
import sys
import types
import zlib

import numpy as np
import torch
from torch.distributed import distributed_c10d as c10d

from distlab.processes import origin
from distlab.rank.memory import KINDS, memory

_TORCH = os.path.dirname(torch.__file__) + os.sep
_RECORDING = origin.recording()
_C10D = c10d.__file__
_SAMPLE = 2048  # bytes at each end of a buffer that go into its checksum


def is_request() -> bool:
    """Was this message begun by `isend` or `irecv`, rather than by a call that blocks?"""
    frame: types.FrameType | None = sys._getframe(2)
    while frame is not None:
        file = frame.f_code.co_filename
        if not (file in _RECORDING or file.startswith(_TORCH)):
            break
        if frame.f_code.co_name in ("send", "recv") and file == _C10D:
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


def digest(tensor: torch.Tensor) -> int | None:
    """A checksum of what a tensor holds, if it is one piece of the CPU's memory."""
    if tensor.device.type != "cpu" or not tensor.is_contiguous() or not tensor.numel():
        return None
    try:
        return zlib.crc32(memory(tensor))
    except (RuntimeError, TypeError):
        return None


def sample(tensor: torch.Tensor) -> tuple[float, int]:
    """First element and a checksum over both ends; (nan, 0) for what is not in plain CPU memory.

    By NumPy where it has such numbers: a mode that looks at operations would be asked of each.
    """
    if tensor.device.type != "cpu" or not tensor.is_contiguous() or tensor.numel() == 0:
        return float("nan"), 0
    try:
        data = memory(tensor)
        crc = zlib.crc32(data[:_SAMPLE])
        if len(data) > _SAMPLE:
            crc = zlib.crc32(data[-_SAMPLE:], crc)
        if tensor.dtype in KINDS:
            return float(np.frombuffer(data, KINDS[tensor.dtype], 1)[0].real), crc
        return float(tensor.detach().view(-1)[0].item().real), crc
    except (RuntimeError, TypeError):
        return float("nan"), 0


def apart(args):
    """A collective's arguments (results, …) with results of their own, and poison in their place.

    Returns the arguments and what copies the results to where they belong; unchanged arguments and
    `None` where that is not as simple as it should be.
    """
    results, given = tensors(args[0]), tensors(args[1:])
    if not results or not all(t.device.type == "cpu" and t.is_contiguous() for t in results):
        return args, None
    own = {t.untyped_storage().data_ptr() for t in results}
    first, *rest = args
    if any(t.untyped_storage().data_ptr() in own for t in given):
        rest = _mapped(rest, torch.clone)  # what is sent must not be poisoned
    pairs = [(t, t.detach().clone()) for t in results]
    scratch = iter([copy for _, copy in pairs])
    first = _mapped(first, lambda _: next(scratch))
    for tensor, _ in pairs:
        poison(tensor)

    def after(_):
        with torch.no_grad():
            for tensor, copy in pairs:
                tensor.detach().copy_(copy)

    return (first, *rest), after


def tensors(value) -> list[torch.Tensor]:
    """All tensors in nested lists."""
    if isinstance(value, torch.Tensor):
        return [value]
    return [t for v in value for t in tensors(v)] if isinstance(value, (list, tuple)) else []


def _mapped(value, change):
    if isinstance(value, torch.Tensor):
        return change(value)
    return [_mapped(v, change) for v in value] if isinstance(value, (list, tuple)) else value


def staged(args):
    """A collective's arguments with CPU copies of its CUDA tensors, and a function that copies the
    results back; unchanged arguments and `None` where there are no CUDA tensors.

    Only results, the first argument, are copied back. Inputs are left alone: one may be a part of a
    result, and autograd may have kept it.
    """
    pairs = []

    def down(tensor):
        if not tensor.is_cuda:
            return tensor
        pairs.append((tensor, tensor.detach().cpu()))
        return pairs[-1][1]

    first, results = _mapped(args[0], down), len(pairs)
    rest = [_mapped(value, down) for value in args[1:]]
    if not pairs:
        return args, None

    def up(_):
        with torch.no_grad():
            for device, host in pairs[:results]:
                device.detach().copy_(host)

    return (first, *rest), up
