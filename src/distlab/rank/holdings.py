"""Keep what tensors hold when an operation begins and when it has ended, for pictures.

Few elements are kept by value, which takes a few microseconds (`bench/recorder.py`), more by their
norm, which takes a small part of what it takes to send them.
"""

from __future__ import annotations

import contextlib
import math
import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from distlab.rank.mapping import mapped
from distlab.rank.memory import array as as_array
from distlab.records.events import CAPACITY
from distlab.records.holdings import MOST_VALUES, ROW, SUFFIX

MOST_NORMED = 1 << 22  # elements beyond which no norm is computed
# where these stand in a row, before and after
_NORMS, _VALUES = (8, 16), (24, 24 + 8 * MOST_VALUES)
_PACK = [struct.Struct(f"<{count}d").pack_into for count in range(MOST_VALUES + 1)]
_PLAIN = (torch.Tensor, torch.nn.Parameter)
_tolist = torch._C.TensorBase.tolist  # not the method that `distlab.rank.races` watches


class Holdings:
    """The file beside a rank's record `path`."""

    def __init__(self, path: Path) -> None:
        self._map = mapped(path.with_suffix(SUFFIX), CAPACITY * ROW.size)

    def keep(self, index: int, when: int, tensors: Sequence[torch.Tensor]) -> None:
        """Note what these tensors hold together `when` entry `index` begins (0) or has ended (1).

        Those that are not in plain memory of this machine are passed over, and tensors of other
        classes, which may do anything when they are looked at.
        """
        count = 0
        for tensor in tensors:
            plain = type(tensor) in _PLAIN and tensor.is_cpu
            if not plain or tensor.layout is not torch.strided:
                return
            count += tensor.numel()
        with contextlib.suppress(RuntimeError, TypeError, struct.error):  # no plain numbers
            if 0 < count <= MOST_VALUES:
                values = _values(tensors[0])
                for tensor in tensors[1:]:
                    values = values + _values(tensor)
                _PACK[count](self._map, index * ROW.size + _VALUES[when], *values)
            elif 0 < count <= MOST_NORMED:
                norm = math.sqrt(sum(map(_square, tensors)))
                _PACK[1](self._map, index * ROW.size + _NORMS[when], norm)
                count = 0
            else:
                return
            self._map[index * ROW.size + when] = 1 + count


def _values(tensor: torch.Tensor) -> list[float]:
    values: list[float] = _tolist(tensor if tensor.dim() == 1 else tensor.detach().reshape(-1))
    return values


def _square(tensor: torch.Tensor) -> float:
    """The sum of its elements' squares."""
    plain = (tensor.float() if tensor.dtype is torch.bfloat16 else tensor).detach().contiguous()
    array = as_array(plain)
    if array.dtype.kind == "c":
        raise TypeError("complex numbers")
    # not by BLAS: that starts threads in every rank
    exact = array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)
    return float(np.einsum("i,i->", exact, exact))
