"""A small network, its pinned weights and its data."""

from __future__ import annotations

import numpy as np

from distlab.exercises.exercise import Case

_INPUTS, _HIDDEN, _CLASSES = 6, 5, 3
_SHAPES = ((_HIDDEN, _INPUTS), (_HIDDEN,), (_CLASSES, _HIDDEN), (_CLASSES,))


def weights(case: Case, rank: int) -> list[np.ndarray]:
    generator = case.generator(100 + rank)
    return [generator.standard_normal(shape).astype("float32") for shape in _SHAPES]


def data(case: Case, rank: int, rows: int) -> dict[str, np.ndarray]:
    generator = case.generator(rank)
    return {
        "images": (2 * generator.standard_normal((rows, _INPUTS))).astype("float32"),
        "labels": generator.integers(0, _CLASSES, rows),
    }


def network(weights, normalised: bool = False):
    """Two layers that end in log-probabilities, so that NLL and cross-entropy are the same."""
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc1 = nn.Linear(_INPUTS, _HIDDEN)
            self.norm = nn.BatchNorm1d(_HIDDEN) if normalised else nn.Identity()
            self.fc2 = nn.Linear(_HIDDEN, _CLASSES)

        def forward(self, x):
            return self.fc2(torch.relu(self.norm(self.fc1(x)))).log_softmax(1)

    model = Net()
    with torch.no_grad():
        for layer, (weight, bias) in ((model.fc1, weights[:2]), (model.fc2, weights[2:])):
            layer.weight.copy_(weight)
            layer.bias.copy_(bias)
    return model


def parameters(model) -> list:
    return [p.detach().clone() for p in model.parameters()]
