"""What several exercises of lab 10 share: inputs that are flat tensors cut into pieces, and large
outputs made short for the judge.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

LARGE = 20_000  # elements; of a larger output only a summary is returned
_KEPT = 64
_PARTS = 1024


def pieces_of(arrays: Sequence[np.ndarray], size: int) -> list[np.ndarray]:
    """Arrays end to end, padded with zeros, cut into `size` equal pieces."""
    line = np.concatenate([array.reshape(-1) for array in arrays])
    padded = np.pad(line, (0, -line.size % size))
    return [piece.copy() for piece in np.split(padded, size)]


def drawn(generator: np.random.Generator, shape: Sequence[int], dtype: str) -> np.ndarray:
    """Standard normal, or integers from 1 to 99: no zeros, which could be taken for padding."""
    if np.dtype(dtype).kind == "i":
        return np.asarray(generator.integers(1, 100, tuple(shape)), dtype)
    return np.asarray(generator.standard_normal(tuple(shape)), dtype)


def drawn_layers(
    generator: np.random.Generator, widths: Sequence[int], dtype: str, biased: bool = True
) -> list[list[np.ndarray]]:
    """[weight, bias] of each layer, with so many features before, between and after the layers."""
    layers = []
    for inside, outside in itertools.pairwise(widths):
        weight = generator.uniform(-1, 1, (outside, inside)) * (3 / inside) ** 0.5
        bias = generator.uniform(-0.5, 0.5, outside) * biased
        layers.append([weight.astype(dtype), bias.astype(dtype)])
    return layers


def shortened(value: Any, lengths: bool = False) -> Any:
    """An output for the judge, with each large tensor replaced by some of its elements and by the
    sums of its parts: references of several MB are too large to keep.

    Args:
        lengths: the L2 norms of the parts in place of their sums. A sum can be far smaller than the
            elements, so that a small relative error of these is a large one of the sum.
    """
    import torch

    if isinstance(value, (list, tuple)):  # a named tuple cannot be made from an iterable
        kind = list if isinstance(value, list) else tuple
        return kind(shortened(item, lengths) for item in value)
    if not isinstance(value, torch.Tensor) or value.numel() <= LARGE or value.is_sparse:
        return value
    flat = value.detach().reshape(-1)
    parts = flat.double().split(math.ceil(flat.numel() / _PARTS))
    root = len(parts[0]) ** 0.5  # divided by it, a sum is as far off as a typical element
    told = [part.norm() if lengths else part.sum() for part in parts]
    return {
        "shape": list(value.shape),
        "dtype": str(value.dtype),
        "some of its elements": flat[:: flat.numel() // _KEPT].clone(),
        f"{'lengths' if lengths else 'sums'} of its parts": torch.stack(told) / root,
    }


def by_one_factor(pairs: Iterable[tuple[np.ndarray, np.ndarray]]) -> bool:
    """Are all that was found one and the same multiple of what is wanted, and not the same?"""
    want, got = (
        np.concatenate([array.ravel() for array in side]) for side in zip(*pairs, strict=True)
    )
    factor = float(got @ want) / float(want @ want)
    off = factor > 0 and abs(factor - 1) > 1e-3
    return off and np.allclose(got, factor * want, rtol=1e-3, atol=1e-5 * factor)
