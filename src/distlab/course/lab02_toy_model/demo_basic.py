"""`demo_basic`: one step with DDP."""

from __future__ import annotations

import contextlib
import functools

import numpy as np

from distlab.course.lab02_toy_model.weights import (
    by_gradients_alone,
    loss_of,
    pinned_weights,
    starting_from,
)
from distlab.exercises.compare import Tolerance
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.hints import holds_a_number


def _step_inputs(case: Case) -> list[dict]:
    rows, there = case.get("rows", 6), np.arange(10) < case.get("features", 10)
    return [
        {
            "weights": pinned_weights(case, rank),
            "inputs": case.draw(rank, (rows, 10)) * there,
            "targets": 3 * case.draw(rank + 50, (rows, 5)),
        }
        for rank in range(case.size)
    ]


@contextlib.contextmanager
def _hooks_are_ddps():
    """Record what a communication hook does as DDP's own, like the all-reduce that it replaces."""
    from unittest import mock

    from torch.nn.parallel import DistributedDataParallel

    from distlab.rank import recording

    registered = DistributedDataParallel.register_comm_hook

    def register_comm_hook(self, state, hook):
        @functools.wraps(hook)  # DDP looks at its signature and its name
        def own(state, bucket):
            with recording.as_internal():
                return hook(state, bucket)

        return registered(self, state, own if callable(hook) else hook)

    with mock.patch.object(DistributedDataParallel, "register_comm_hook", register_comm_hook):
        yield


def _call_demo_basic(function, rank, size, inputs):
    with starting_from(inputs["weights"]), _hooks_are_ddps():
        return function(rank, size, inputs["inputs"], inputs["targets"])


def _reduced_by_ddp(look: Look) -> str | None:
    for record in look.records:
        if not any(e.op == "all_reduce" and e.internal for e in record.events):
            return (
                f"on rank {record.rank} DDP reduced no gradient. Wrap the model in "
                "DistributedDataParallel, and let the forward pass go through the wrapped model, "
                "not through the one inside."
            )
    return None


def _by_gradients_alone(look: Look) -> str | None:
    return by_gradients_alone(
        look, lambda given: [given["inputs"]], lambda tree: tree["parameters"][0]
    )


def _moved(look: Look) -> tuple[np.ndarray, np.ndarray]:
    """How far rank 0's parameters moved, flat: (expected, got)."""
    expected, got = look.pairs("parameters")[0]
    begin = look.inputs[0]["weights"]
    return tuple(
        np.concatenate([(p - b).ravel() for p, b in zip(after, begin, strict=True)])
        for after in (expected, got)
    )


def _wrong_length(look: Look) -> bool:
    """Did the parameters move in the right direction by the wrong amount?"""
    expected, got = _moved(look)
    ratio = float(expected @ got / (expected @ expected))
    return abs(ratio - 1) > 0.02 and np.abs(got - ratio * expected).max() < 0.02 * np.abs(got).max()


def _losses(look: Look, weights: list) -> list[float]:
    """Each rank's loss on its own data, with its one of these weights."""
    return [
        loss_of(own, given["inputs"], given["targets"])
        for own, given in zip(weights, look.inputs, strict=True)
    ]


def _one_loss(look: Look) -> bool:
    """Did all ranks return the same loss?"""
    return look.size > 1 and len({round(loss, 4) for loss in look.left("loss")}) == 1


def _of_all(look: Look) -> bool:
    """Is rank 0's loss the mean of what the ranks should have returned, or their sum?"""
    total = sum(look.asked("loss"))
    return np.isclose(look.left("loss")[0], [total, total / look.size], rtol=1e-4).any()


exercise = Exercise(
    points=4,
    make=_step_inputs,
    call=_call_demo_basic,
    asks="demo_basic makes one SGD step (lr 0.001) on a ToyModel wrapped in DDP and returns this "
    "rank's own MSE loss before the step and the parameters after it.",
    visible=(Case(2, 1), Case(4, 2, {"rows": 3})),
    rules=(_reduced_by_ddp, _by_gradients_alone),
    tolerance=Tolerance(rtol=1e-5, atol=2e-6),
    hints=(
        Hint(
            "ranks ended differently",
            lambda look: look.ranks_differ("parameters"),
            "The ranks ended with different parameters. DDP gives every rank rank 0's weights "
            "when it wraps the model, and averages gradients only of what went through its own "
            "forward.",
        ),
        Hint(
            "loss as a tensor",
            lambda look: any(map(holds_a_number, look.left("loss"))),
            "The loss is a tensor of one element, or a number of NumPy's: item() makes a plain "
            "number of it.",
        ),
        Hint(
            "no step",
            lambda look: bool(np.abs(_moved(look)[1]).max() == 0),
            "The parameters are those before the step. The order is forward, loss, backward, step; "
            "the optimizer has to hold the parameters of this very model, and they are read last.",
        ),
        Hint(
            "sum of squares",
            lambda look: all(
                np.isclose(got, want * targets.size, rtol=1e-4)
                for (want, got), targets in zip(
                    look.pairs("loss"), look.given("targets"), strict=True
                )
            ),
            "The loss is the sum of the squared errors. MSE is their mean over all elements, which "
            "is what the loss function gives when it is not told otherwise.",
        ),
        Hint(
            "wrong length of step",
            _wrong_length,
            "The parameters moved in the right direction by the wrong amount: look at the "
            "learning rate, and remember that DDP has already divided the gradients by the "
            "number of ranks.",
        ),
        Hint(
            "loss after the step",
            lambda look: np.allclose(
                look.left("loss"), _losses(look, look.asked("parameters")), rtol=1e-5
            ),
            "The loss was computed after the step: return the one that the backward pass began "
            "from.",
        ),
        Hint(
            "loss of all ranks",
            lambda look: _one_loss(look) and _of_all(look),
            "Every rank returned the same loss. Asked for is each rank's own: DDP averages "
            "gradients, the losses differ.",
        ),
        Hint(
            "other data",
            lambda look: _one_loss(look) and not _of_all(look),
            "Every rank returned the same loss, and it is neither the mean of the ranks' own nor "
            "their sum. Each rank is given data of its own: do `inputs` go into the model, and is "
            "`targets` what its output is compared with?",
        ),
        Hint(
            "own weights",
            lambda look: (
                np.isclose(look.left("loss"), _losses(look, look.given("weights")), rtol=1e-5)[1:]
            ).any(),
            "The loss is that of this rank's own first weights: compute it after DDP has wrapped "
            "the model, when all ranks have rank 0's.",
        ),
    ),
)
