"""How much an operation gives and takes, in elements and in bytes."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import torch


def elements(tensors: Sequence[torch.Tensor]) -> list[int]:
    """Of each of them."""
    return [tensor.numel() for tensor in tensors]


def shares(tensor: torch.Tensor, rows: Sequence[int], size: int) -> Sequence[Fraction | int]:
    """Elements of a tensor for each member, which has so many rows of it, or equally many; none
    where torch refuses to cut it like that. Without rows gloo divides the bytes, of a length that
    is no multiple of the members too.
    """
    length = tensor.shape[0] if tensor.dim() else 0
    if not rows:
        return [Fraction(tensor.numel(), size)] * size
    if len(rows) != size or sum(rows) != length:
        return []
    return [tensor.numel() // max(length, 1) * count for count in rows]


def bytes_of(tensors: Sequence[torch.Tensor]) -> int:
    """Their bytes, of sparse ones none: nobody knows what will be sent of these."""
    return sum(t.numel() * t.element_size() for t in tensors if t.layout is torch.strided)
