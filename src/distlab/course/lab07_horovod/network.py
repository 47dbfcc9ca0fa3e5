"""A small network, its pinned weights and its data."""

from __future__ import annotations

import numpy as np

from distlab.exercises.exercise import Case
from distlab.rank.models import linear

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
            self.fc1 = linear(*weights[:2])
            self.norm = nn.BatchNorm1d(_HIDDEN) if normalised else nn.Identity()
            self.fc2 = linear(*weights[2:])

        def forward(self, x):
            return self.fc2(torch.relu(self.norm(self.fc1(x)))).log_softmax(1)

    return Net()
