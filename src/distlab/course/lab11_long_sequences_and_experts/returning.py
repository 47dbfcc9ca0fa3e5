"""What the harnesses of lab 11 return, and what its hints ask of that."""

from __future__ import annotations

from typing import Any

import numpy as np

from distlab.exercises.exercise import Hint, Look

ARGUMENTS = "arguments"
_STEP = 1009  # a prime, so that every `_STEP`-th element meets all rows and columns
_LARGE = 100_000  # elements; of a larger tensor only every `_STEP`-th is returned


def call_pure(function, rank, size, inputs):
    """Call a function that has neither rank nor size and must leave its arguments as they are."""
    import torch

    given = list(inputs.values())
    before = [v.clone() if isinstance(v, torch.Tensor) else v for v in given]
    result = function(*given)
    same = all(
        torch.equal(a, b) if isinstance(a, torch.Tensor) else a == b
        for a, b in zip(before, given, strict=True)
    )
    return {"returned": result, ARGUMENTS: "as they were" if same else "changed"}


def shortened(value: Any) -> Any:
    """A large tensor as its shape and some of its elements, so that references stay small."""
    import torch

    if not isinstance(value, torch.Tensor) or value.numel() < _LARGE:
        return value
    flat = value.detach().reshape(-1)
    return {"shape": list(value.shape), "elements": flat[::_STEP].clone()}


def call_shortened(function, rank, size, inputs):
    """Call a function with rank, size and its inputs; a large result is made short."""
    return shortened(function(rank, size, *inputs.values()))


def one(value: Any) -> np.ndarray | None:
    """A returned tensor as an array; `None` where it is no tensor, or was shortened."""
    return value if isinstance(value, np.ndarray) else None


def pair(value: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """Two returned tensors; `None` where something else was returned."""
    if isinstance(value, (list, tuple)) and len(value) == 2:
        left, right = value
        if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
            return left, right
    return None


def any_nan(look: Look) -> bool:
    """Did a rank return a tensor with a NaN?"""
    return any(one(got) is not None and np.isnan(got).any() for got in look.returned)


def misplaced(want: Any, got: Any) -> bool:
    """Does a tensor hold the right elements of the right shape, in another order?"""
    if one(want) is None or one(got) is None or want.shape != got.shape:
        return False
    alike = np.sort(want, axis=None), np.sort(got, axis=None)
    return bool(np.array_equal(*alike)) and not np.array_equal(want, got)


def _nearly(look: Look) -> bool:
    """Are the results wrong, and nowhere farther off than a hundredth of the largest element?"""
    pairs = look.pairs()
    return not all(look.same(w, g) for w, g in pairs) and all(
        bool(np.abs(g - w).max(initial=0) <= 0.01 * np.abs(w).max(initial=0)) for w, g in pairs
    )


NEARLY = Hint(
    "nearly right",
    _nearly,
    "This is nearly right, and farther off than rounding would leave it. Was something computed in "
    "a narrower type, or sent in one? (torch.autocast and .bfloat16() keep three digits.)",
)
CHANGED = Hint(
    "arguments changed",
    lambda look: "changed" in look.left(ARGUMENTS),
    "The function changed what it was given: operations whose names end in _ (and +=, *=, "
    "x[i] = …) write into their tensor. Work on copies, or with operations that return a new one.",
)


def shape_of(says: str) -> Hint:
    """A tensor of another shape than the one that is asked for."""

    def shows(look: Look) -> bool:
        return any(
            one(want) is not None and one(got) is not None and want.shape != got.shape
            for want, got in look.pairs()
        )

    return Hint("another shape", shows, says)
