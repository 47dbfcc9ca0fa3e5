"""Muon: SGD with momentum whose step on a matrix is made orthogonal, by five products of matrices.

A gradient of a layer's weights has a few large singular values and many small ones, so that a step
along it changes little but those few directions. Muon (Jordan et al., 2024,
https://kellerjordan.github.io/posts/muon/) replaces G = U·S·Vᵀ by about U·Vᵀ: the same directions,
all of them about equally long. The singular value decomposition itself would take far longer than
the training step; a Newton–Schulz iteration needs products of matrices alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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
        matrix: of shape (rows, columns), or several as (n, rows, columns), of floating-point
            numbers, on any device. On a GPU the products are computed in bfloat16.
        steps: how often the polynomial is applied.

    Returns:
        A tensor of the same shape and dtype.
    """
    a, b, c = COEFFICIENTS
    exact = matrix.dtype if matrix.device.type == "cpu" else torch.bfloat16
    x = matrix.reshape(-1, *matrix.shape[-2:])  # a batch of matrices, perhaps of one
    x = (x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)).to(exact)  # no singular value above 1
    if tall := x.shape[-2] > x.shape[-1]:
        x = x.mT  # the smaller of both products
    for _ in range(steps):
        square = x @ x.mT
        change = torch.baddbmm(square, square, square, beta=b, alpha=c)
        x = torch.baddbmm(x, change, x, beta=a)
    found: torch.Tensor = (x.mT if tall else x).to(matrix.dtype).view(matrix.shape)
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
            weights = [one for one in group["params"] if one.grad is not None]
            if weights:
                self._update(weights, group)
        return loss

    def _update(self, weights: list[torch.Tensor], group: dict[str, Any]) -> None:
        """All weights of a group at once: on a GPU, what is asked for one by one takes longer to
        ask for than to compute."""
        gradients = [one.grad for one in weights if one.grad is not None]
        if group["weight_decay"]:
            decayed = torch._foreach_add(gradients, weights, alpha=group["weight_decay"])
            gradients = list(decayed)
        for weight in weights:
            if "momentum_buffer" not in self.state[weight]:
                self.state[weight]["momentum_buffer"] = torch.zeros_like(weight)
        momenta = [self.state[one]["momentum_buffer"] for one in weights]
        torch._foreach_mul_(momenta, group["momentum"])
        torch._foreach_add_(momenta, gradients)
        steps = list(torch._foreach_add(gradients, momenta, alpha=group["momentum"]))  # Nesterov's
        if group["orthogonal"]:
            norms = torch._foreach_norm(weights)
            torch._foreach_clamp_min_(norms, 1e-12)
            torch._foreach_div_(norms, [len(one) ** 0.5 for one in weights])
            torch._foreach_div_(weights, norms)
            steps = _orthogonal(steps)
        torch._foreach_add_(weights, steps, alpha=-group["lr"])


def _orthogonal(steps: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """`newton_schulz` of each step as a matrix, those of one shape together."""
    alike: dict[torch.Size, list[int]] = {}
    for number, step in enumerate(steps):
        alike.setdefault(step.shape, []).append(number)
    found = list(steps)
    for shape, numbers in alike.items():
        together = torch.stack(
            [steps[number].reshape(len(steps[number]), -1) for number in numbers]
        )
        for number, made in zip(numbers, newton_schulz(together), strict=True):
            found[number] = made.view(shape)
    return found


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
