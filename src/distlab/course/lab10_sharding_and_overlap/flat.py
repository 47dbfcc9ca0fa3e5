"""What several exercises of lab 10 share: flat tensors cut into pieces, and large outputs made
short.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

LARGE = 20_000  # elements; an output beyond that is told by a part of them
_KEPT = 64
_PARTS = 1024


def pieces_of(arrays: Sequence[np.ndarray], size: int) -> list[np.ndarray]:
    """Arrays end to end, with zeros behind them, cut into `size` equal pieces."""
    line = np.concatenate([array.reshape(-1) for array in arrays])
    length = -(-line.size // size)
    padded = np.zeros(length * size, line.dtype)
    padded[: line.size] = line
    return [piece.copy() for piece in padded.reshape(size, length)]


def drawn(generator: np.random.Generator, shape: Sequence[int], dtype: str) -> np.ndarray:
    """Standard normal, or integers from 1 to 99: no zero among them, which could be padding."""
    if np.dtype(dtype).kind == "i":
        return np.asarray(generator.integers(1, 100, tuple(shape)), dtype)
    return np.asarray(generator.standard_normal(tuple(shape)), dtype)


def shortened(value: Any, lengths: bool = False) -> Any:
    """An output for the judge, each of its large tensors told by some elements and by its parts:
    several MB are no reference that a course wants to keep.

    Args:
        lengths: tell the length of each part and not its sum, which can be far smaller than the
            elements are, so that a small relative error of theirs is a large one of the sum.
    """
    import torch

    if isinstance(value, (list, tuple)):  # named tuples too, which cannot be made of one iterable
        kind = list if isinstance(value, list) else tuple
        return kind(shortened(item, lengths) for item in value)
    if not isinstance(value, torch.Tensor) or value.numel() <= LARGE or value.is_sparse:
        return value
    flat = value.detach().reshape(-1)
    parts = flat.double().split(math.ceil(flat.numel() / _PARTS))
    root = len(parts[0]) ** 0.5  # in parts of it: as far off as a typical element is
    told = [part.norm() if lengths else part.sum() for part in parts]
    return {
        "shape": list(value.shape),
        "dtype": str(value.dtype),
        "some of its elements": flat[:: flat.numel() // _KEPT].clone(),
        f"{'lengths' if lengths else 'sums'} of its parts": torch.stack(told) / root,
    }
