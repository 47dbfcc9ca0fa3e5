"""Muon: SGD with momentum whose step on a matrix is made orthogonal, by five products of matrices.

A gradient of a layer's weights has a few large singular values and many small ones, so that a step
along it changes little but those few directions. Muon (Jordan et al., 2024,
https://kellerjordan.github.io/posts/muon/) replaces G = U·S·Vᵀ by about U·Vᵀ: the same directions,
all of them about equally long. The singular value decomposition itself would take far longer than
the training step; a Newton–Schulz iteration needs products of matrices alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn

#: of the polynomial a·x + b·x³ + c·x⁵, chosen for a steep rise at 0: singular values end between
#: about 0.7 and 1.2, which trains as well as exactly 1
COEFFICIENTS = (3.4445, -4.7750, 2.0315)
STEPS = 5


def newton_schulz(matrix: torch.Tensor, steps: int = STEPS) -> torch.Tensor:
    """About U·Vᵀ of a matrix U·S·Vᵀ: the same singular vectors, singular values near 1.

    Each step applies the polynomial of `COEFFICIENTS` to all singular values at once, because
    X·Xᵀ·X has the cubes of X's. Those below about 0.003 of the matrix's norm need more than five
    steps to come near 1. Source: Jordan et al., 2024; the iteration itself: Björck and Bowie, 1971.

    Args:
        matrix: of shape (rows, columns), of floating-point numbers, on any device. On a GPU the
            products are computed in bfloat16.
        steps: how often the polynomial is applied.

    Returns:
        A tensor of the same shape and dtype.
    """
    a, b, c = COEFFICIENTS
    exact = matrix.dtype if matrix.device.type == "cpu" else torch.bfloat16
    x = matrix.to(exact)
    x = x / (x.norm() + 1e-7)  # no singular value is above 1
    if tall := len(matrix) > matrix.shape[1]:
        x = x.T  # the smaller of both products
    for _ in range(steps):
        square = x @ x.T
        x = a * x + (b * square + c * square @ square) @ x
    found: torch.Tensor = (x.T if tall else x).to(matrix.dtype)
    return found


class Muon(torch.optim.Optimizer):
    """SGD with Nesterov momentum; groups with `orthogonal` set take Muon's step.

    Weights of such a group are seen as matrices of shape (outputs, all the rest). Before each step
    their norm is set to √outputs, which changes nothing where a normalisation follows, and lets the
    learning rate say by how much a step turns them.

    Args:
        groups: `parameter_groups` makes them. Each has `lr`, `momentum`, `weight_decay` and
            `orthogonal`.
    """

    def __init__(
        self, groups: Iterable[dict[str, Any]], lr: float = 0.1, momentum: float = 0.6
    ) -> None:
        kept = {"lr": lr, "momentum": momentum, "weight_decay": 0.0, "orthogonal": False}
        super().__init__(groups, kept)

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # type: ignore[override]  # no overloads
        """Update all parameters that have a gradient."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.grad is not None:
                    self._update(weight, group)
        return loss

    def _update(self, weight: torch.Tensor, group: dict[str, Any]) -> None:
        gradient = weight.grad
        assert gradient is not None
        if group["weight_decay"]:
            gradient = gradient.add(weight, alpha=group["weight_decay"])
        state = self.state[weight]
        if "momentum_buffer" not in state:
            state["momentum_buffer"] = torch.zeros_like(weight)
        momentum = state["momentum_buffer"].mul_(group["momentum"]).add_(gradient)
        step = gradient.add(momentum, alpha=group["momentum"])  # Nesterov's
        if group["orthogonal"]:
            weight.mul_(len(weight) ** 0.5 / weight.norm().clamp(min=1e-12))
            step = newton_schulz(step.reshape(len(step), -1)).view(step.shape)
        weight.add_(step, alpha=-group["lr"])


def parameter_groups(
    model: nn.Module, lr: float, filters_lr: float = 0.24, weight_decay: float = 0.0
) -> list[dict[str, Any]]:
    """What of a model takes which step: filters Muon's, everything else that of SGD.

    Args:
        lr: of biases, normalisations and the last layer.
        filters_lr: of convolutions' weights, by Muon; Jordan's for CIFAR-10 is 0.24.
        weight_decay: of the others; Muon keeps the norm of filters as it is.
    """
    trained = [one for one in model.parameters() if one.requires_grad]
    filters = [one for one in trained if one.dim() == 4]
    others = [one for one in trained if one.dim() != 4]
    groups: list[dict[str, Any]] = [
        {"params": filters, "lr": filters_lr, "momentum": 0.6, "orthogonal": True},
        {"params": others, "lr": lr, "momentum": 0.85, "weight_decay": weight_decay},
    ]
    return [group for group in groups if group["params"]]
