"""What a tensor holds, looked at without leaving a trace in it."""

from __future__ import annotations

import ctypes
import functools

import numpy as np
import torch


def memory(tensor: torch.Tensor) -> ctypes.Array[ctypes.c_char]:
    """The bytes of a contiguous tensor in the CPU's memory, as they lie there.

    Not by `Tensor.numpy`: its storage could not be resized from then on, which FSDP does with the
    parameters and gradients that it gathers.

    Raises:
        RuntimeError: it has no such bytes, or not all of them.
    """
    if not tensor.is_cpu or not tensor.is_contiguous() or tensor.is_conj() or tensor.is_neg():
        raise RuntimeError("not what lies in the CPU's memory")
    address, size = tensor.data_ptr(), tensor.numel() * tensor.element_size()
    storage = tensor.untyped_storage()
    begin = tensor.storage_offset() * tensor.element_size()
    if not address or storage.nbytes() < begin + size:  # a subclass, or what FSDP has let go of
        raise RuntimeError("no memory")
    return (ctypes.c_char * size).from_address(address)


def array(tensor: torch.Tensor) -> np.ndarray:
    """A contiguous tensor in the CPU's memory as an array, while the tensor is there.

    Raises:
        RuntimeError, TypeError: it has no such memory, or NumPy not its kind of number.
    """
    return np.frombuffer(memoryview(memory(tensor)), _kind(tensor.dtype))


@functools.cache
def _kind(dtype: torch.dtype) -> np.dtype:
    found: np.dtype = torch.empty(0, dtype=dtype).numpy().dtype
    return found
