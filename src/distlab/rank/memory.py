"""What a tensor holds, looked at without leaving a trace in it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np
import torch

#: NumPy's name of each kind of number that it has
KINDS = {
    getattr(torch, name): np.dtype(name)
    for name in (
        "bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64",
        "float16", "float32", "float64", "complex64", "complex128",
    )
}  # fmt: skip
_READ_ONLY = 0x100  # PyBUF_READ of Python's C API
#: not `(c_char * size).from_address`: to make a type for each size takes ten times as long
_bytes_at: Callable[[int, int, int], memoryview] = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int
)(("PyMemoryView_FromMemory", ctypes.pythonapi))


def memory(tensor: torch.Tensor) -> memoryview:
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
    return _bytes_at(address, size, _READ_ONLY)


def array(tensor: torch.Tensor) -> np.ndarray:
    """A contiguous tensor in the CPU's memory as an array, while the tensor is there.

    Raises:
        RuntimeError, TypeError: it has no such memory, or NumPy not its kind of number.
    """
    if tensor.dtype not in KINDS:
        raise TypeError(f"NumPy has no {tensor.dtype}")
    return np.frombuffer(memory(tensor), KINDS[tensor.dtype])
