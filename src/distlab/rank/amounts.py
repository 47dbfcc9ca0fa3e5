"""How much an operation gives and takes, in elements and in bytes."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import torch


def elements(tensors: Sequence[torch.Tensor]) -> list[int]:
    """The number of elements of each tensor."""
    return [tensor.numel() for tensor in tensors]


def shares(tensor: torch.Tensor, rows: Sequence[int], size: int) -> Sequence[Fraction | int]:
    """The elements of a tensor that each of `size` members gets: so many rows, or equal shares.
    Empty where torch refuses to cut it like that. Without rows gloo divides the bytes, also where
    the length is no multiple of the number of members.
    """
    length = tensor.shape[0] if tensor.dim() else 0
    if not rows:
        return [Fraction(tensor.numel(), size)] * size
    if len(rows) != size or sum(rows) != length:
        return []
    return [tensor.numel() // max(length, 1) * count for count in rows]


def bytes_of(tensors: Sequence[torch.Tensor]) -> int:
    """The bytes of all tensors; none for sparse ones, of which it is unknown what will be sent."""
    return sum(t.numel() * t.element_size() for t in tensors if t.layout is torch.strided)
