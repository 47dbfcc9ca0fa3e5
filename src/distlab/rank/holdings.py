"""Keep what tensors hold when an operation begins and when it has ended, for pictures.

Few elements are kept by value, more by their norm: 2 to 5 µs for small tensors, and for large ones
less than a tenth of what it takes to send them.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from distlab.rank.mapping import mapped
from distlab.records.events import CAPACITY
from distlab.records.holdings import MOST_VALUES, ROW, SUFFIX

MOST_NORMED = 1 << 22  # elements beyond which no norm is computed
_NORMS, _VALUES = 8, 24  # where these begin in a row
_PACK = [struct.Struct(f"<{count}d").pack_into for count in range(MOST_VALUES + 1)]
_double = _PACK[1]


class Holdings:
    """The file beside a rank's record `path`."""

    def __init__(self, path: Path) -> None:
        self._map = mapped(path.with_suffix(SUFFIX), CAPACITY * ROW.size)

    def keep(self, index: int, when: int, tensors: Sequence[torch.Tensor]) -> None:
        """Note what these tensors hold together `when` entry `index` begins (0) or has ended (1).

        Those that are not in plain memory of this machine are passed over.
        """
        arrays = [_array(tensor) for tensor in tensors]
        flat = [array for array in arrays if array is not None]
        count = sum(array.size for array in flat)
        if len(flat) < len(arrays) or not count:
            return
        values: list[float] = []
        norm = math.nan
        if count <= MOST_VALUES:
            values = [float(value) for array in flat for value in array.tolist()]
        elif count <= MOST_NORMED:
            norm = math.sqrt(sum(_square(array) for array in flat))
        at = index * ROW.size
        _double(self._map, at + _NORMS + 8 * when, norm)
        _PACK[len(values)](self._map, at + _VALUES + 8 * MOST_VALUES * when, *values)
        self._map[at + when] = 1 + len(values)


def _array(tensor: torch.Tensor) -> np.ndarray | None:
    """Its elements; None where that would take a copy from elsewhere, or is no list of numbers."""
    if tensor.device.type != "cpu" or tensor.layout is not torch.strided or tensor.is_quantized:
        return None
    try:
        plain = tensor.detach()
        if plain.dtype is torch.bfloat16:
            plain = plain.float()
        return None if plain.is_complex() else plain.numpy().reshape(-1)
    except (RuntimeError, TypeError):  # a subclass, or one of a mode that hides its memory
        return None


def _square(array: np.ndarray) -> float:
    # not by BLAS: that starts threads in every rank
    exact = array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)
    return float(np.einsum("i,i->", exact, exact))
