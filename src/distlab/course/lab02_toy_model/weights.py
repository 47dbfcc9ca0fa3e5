"""What the harnesses of lab 02 share: weights that are pinned, and the undivided computation.

Weights are part of a case's inputs: every `nn.Linear` of a `ToyModel` starts from them, whatever
the random numbers, and on each rank from different ones. So an answer shows whether its ranks all
begin with rank 0's.
"""

from __future__ import annotations

import contextlib

import numpy as np

from distlab.exercises.exercise import Case, Look
from distlab.rank.models import set_to

PATIENCE = 2.0  # seconds that a rank waits for the others outside of any process group
_SHAPES = ((10, 10), (10,), (5, 10), (5,))  # of a ToyModel's parameters


def pinned_weights(case: Case, rank: int, salt: int = 0) -> list[np.ndarray]:
    generator = case.generator(rank, stream=7 + salt)
    return [generator.uniform(-0.4, 0.4, shape).astype("float32") for shape in _SHAPES]


@contextlib.contextmanager
def starting_from(weights):
    """Let the layers of every ToyModel that is made meanwhile start from these weights."""
    from unittest import mock

    from torch.nn import Linear

    own = Linear.reset_parameters
    table = {(10, 10): weights[:2], (5, 10): weights[2:]}

    def reset_parameters(layer) -> None:
        pinned = table.get(tuple(layer.weight.shape))
        if pinned is None or layer.bias is None:
            own(layer)
        else:
            set_to(layer, *pinned)

    with mock.patch.object(Linear, "reset_parameters", reset_parameters):
        yield


def _forward(weights, inputs):
    hidden = np.maximum(inputs @ weights[0].T + weights[1], 0)
    return hidden, hidden @ weights[2].T + weights[3]


def loss_of(weights, inputs, targets) -> float:
    return float(((_forward(weights, inputs)[1] - targets) ** 2).mean())


def trained(weights, batches, lr: float, kept: float = 0.0) -> list[np.ndarray]:
    """SGD on one process, in NumPy: what hints compare wrong training loops with.

    Args:
        kept: how much of a step goes into the next one: momentum, or 1 where gradients pile up.
    """
    weights = [w.astype("float64") for w in weights]
    before = [0.0] * 4
    for inputs, targets in batches:
        hidden, outputs = _forward(weights, inputs)
        down = 2 * (outputs - targets) / outputs.size
        back = (down @ weights[2]) * (hidden > 0)
        gradients = [back.T @ inputs, back.sum(0), down.T @ hidden, down.sum(0)]
        before = gradients = [g + kept * b for g, b in zip(gradients, before, strict=True)]
        weights = [w - lr * g for w, g in zip(weights, gradients, strict=True)]
    return [w.astype("float32") for w in weights]


def by_gradients_alone(look: Look, seen, first, slack: float = 0.0) -> str | None:
    """A rule: a feature that is 0 in all samples gives its weights a gradient of exactly 0.

    Args:
        seen: the samples of a rank, arrays of shape (n, 10), out of its inputs.
        first: the first weight, of shape (10, 10), out of what a rank returned.
        slack: how far such a weight may move, relative to it.
    """
    samples = [rows for given in look.inputs for rows in seen(given)]
    if not samples:
        return None
    unseen = ~np.any([rows.any(0) for rows in samples], axis=0)
    begin = look.inputs[0]["weights"][0]
    for r, (want, got) in enumerate(zip(look.expected, look.got, strict=True)):
        if not look.same(want, got):
            continue
        if (np.abs(first(got) - begin) > slack * np.abs(begin))[:, unseen].any():
            return (
                f"on rank {r} weights moved a little whose gradient is zero. Plain SGD moves each "
                "by its gradient times the learning rate, and by nothing else: a weight_decay, for "
                "one, pulls all of them towards zero."
            )
    return None
