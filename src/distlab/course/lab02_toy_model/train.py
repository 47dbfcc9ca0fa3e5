"""`train`: steps that come out as those of a single process."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from distlab.course.lab02_toy_model.weights import (
    by_gradients_alone,
    pinned_weights,
    starting_from,
    trained,
)
from distlab.exercises.exercise import Case, Exercise, Hint, Look


def _train_inputs(case: Case) -> list[dict]:
    rows, there = case.get("rows", [4, 4, 2]), np.arange(10) < case.get("features", 10)
    return [
        {
            "weights": pinned_weights(case, rank),
            "batches": [
                (
                    case.draw(rank + 10 * number, (count, 10)) * there,
                    2 * case.draw(rank + 500 + 10 * number, (count, 5)),
                )
                for number, count in enumerate(rows)
            ],
            "lr": case.get("lr", 0.1),
        }
        for rank in range(case.size)
    ]


def _call_train(function, rank, size, inputs):
    with starting_from(inputs["weights"]):
        return function(rank, size, inputs["batches"], inputs["lr"])


def _by_gradients_alone(look: Look) -> str | None:
    return by_gradients_alone(
        look,
        lambda given: [inputs for inputs, _ in given["batches"]],
        lambda tree: tree[0],
        slack=2e-6,  # equal weights that are averaged round a little
    )


def _union(look: Look) -> list:
    """The batches of all ranks put together."""
    return [
        tuple(np.concatenate(parts) for parts in zip(*batches, strict=True))
        for batches in zip(*look.given("batches"), strict=True)
    ]


def _one_process(
    look: Look, part: slice = slice(None), passes: int = 1, rate: float = 1.0, kept: float = 0.0
) -> list[np.ndarray]:
    """What one process reaches from rank 0's weights.

    Args:
        part: the batches that it uses.
        passes: how often it uses them.
        rate: its learning rate as a multiple of the right one.
        kept: how much of a step goes into the next one.
    """
    return trained(_begin(look), _union(look)[part] * passes, rate * _lr(look), kept)


def _like(mistakes: Callable[[Look], Iterable[list[np.ndarray]]]) -> Callable[[Look], bool]:
    """A hint's `shows`: did every rank return what one of these mistakes gives?"""
    return lambda look: any(
        all(look.same(wrong, got) for got in look.got) for wrong in mistakes(look)
    )


def _averaged_at_the_end(look: Look) -> list[np.ndarray]:
    """The mean of what ranks reach that each train alone from rank 0's weights."""
    alone = [trained(_begin(look), batches, _lr(look)) for batches in look.given("batches")]
    return [np.mean(tensors, axis=0) for tensors in zip(*alone, strict=True)]


def _by_sum_of_squares(look: Look) -> list[np.ndarray]:
    weights = _begin(look)
    for batch in _union(look):
        weights = trained(weights, [batch], _lr(look) * batch[1].size / look.size)
    return weights


def _by_itself(look: Look, part: slice) -> bool:
    """Has every rank trained alone, on these of its batches, from its own weights or rank 0's?"""
    weights, batches = look.given("weights"), look.given("batches")
    return batches[0] != [] and all(
        any(look.same(trained(begin, mine[part], _lr(look)), got) for begin in (weights[0], own))
        for own, mine, got in zip(weights, batches, look.got, strict=True)
    )


def _ranks_differ(look: Look) -> bool:
    return any(not look.same(look.got[0], got) for got in look.got)


def _agree(look: Look) -> list[bool]:
    """For each tensor: do all ranks have the same?"""
    return [
        all(look.same(tensors[0], tensor) for tensor in tensors)
        for tensors in zip(*look.got, strict=True)
    ]


def _begin(look: Look) -> list[np.ndarray]:
    return look.inputs[0]["weights"]


def _lr(look: Look) -> float:
    return look.inputs[0]["lr"]


def _moved_alike(look: Look) -> bool:
    """Did all ranks take the same steps, from weights of their own?"""
    first, *others = [
        [there - begin for there, begin in zip(got, own, strict=True)]
        for got, own in zip(look.got, look.given("weights"), strict=True)
    ]
    return all(look.same(first, other) for other in others)


exercise = Exercise(
    points=5,
    make=_train_inputs,
    call=_call_train,
    asks="train makes one SGD step for each batch, and every rank ends with the parameters that "
    "one process would have reached from rank 0's weights on the batches of all ranks put "
    "together.",
    visible=(Case(2, 1), Case(3, 2, {"rows": [2, 5], "lr": 0.05})),
    rules=(_by_gradients_alone,),
    hints=(
        Hint(
            "no step",
            lambda look: _by_itself(look, slice(0)),
            "The parameters are those from the beginning: no step has reached them.",
        ),
        Hint(
            "no averaging",
            lambda look: _by_itself(look, slice(None)),
            "Every rank has trained on its own batches alone: between backward and step the "
            "gradients of all ranks have to be averaged.",
        ),
        Hint(
            "gradients pile up",
            _like(lambda look: [_one_process(look, kept=1)]),
            "The gradients of earlier batches are still in .grad and are added to: they have to "
            "be cleared before each backward.",
        ),
        Hint(
            "momentum",
            _like(lambda look: (_one_process(look, kept=k) for k in (0.5, 0.9, 0.95, 0.99))),
            "A part of each step goes into the next one, as with momentum: plain SGD has none.",
        ),
        Hint(
            "sum of squares",
            _like(lambda look: [_by_sum_of_squares(look)]),
            "The loss is the sum of the squared errors. MSE is their mean over all elements, which "
            "is what the loss function gives when it is not told otherwise.",
        ),
        Hint(
            "sum for mean",
            _like(lambda look: [_one_process(look, rate=look.size)]),
            "Every step is as many times too long as there are ranks: a sum where a mean "
            "belongs, or a learning rate multiplied.",
        ),
        Hint(
            "uphill",
            _like(lambda look: [_one_process(look, rate=-1)]),
            "Every step goes uphill: it is against the gradient that the loss falls.",
        ),
        Hint(
            "divided twice",
            _like(lambda look: [_one_process(look, rate=1 / look.size)]),
            "Every step is too short by the number of ranks: the gradients are divided twice "
            "(DDP has already divided them).",
        ),
        Hint(
            "first batch alone",
            _like(lambda look: [_one_process(look, slice(1))]),
            "Only the first batch was used: look for a return inside the loop.",
        ),
        Hint(
            "several passes",
            _like(lambda look: (_one_process(look, passes=n) for n in range(2, 11))),
            "The batches were used more than once: asked for is one step for each.",
        ),
        Hint(
            "averaged at the end",
            _like(lambda look: [_averaged_at_the_end(look)]),
            "Every rank has trained by itself, and only the weights at the end were averaged. That "
            "is another training from the second step on: average at every step.",
        ),
        Hint(
            "a batch left out",
            _like(lambda look: (_one_process(look, part) for part in (slice(-1), slice(1, None)))),
            "One batch is missing, the first or the last: look at where the loop begins and ends.",
        ),
        Hint(
            "some tensors left out",
            lambda look: any(_agree(look)) and not all(_agree(look)),
            "The ranks agree in some of the parameters and not in the others: every parameter, "
            "weights and biases, has to begin with rank 0's and to have its gradient averaged.",
        ),
        Hint(
            "ranks began differently",
            lambda look: _ranks_differ(look) and _moved_alike(look),
            "The ranks ended with different parameters. Each builds a ToyModel with random "
            "weights of its own: before the first step all need rank 0's.",
        ),
        Hint(
            "ranks stepped differently",
            _ranks_differ,
            "The ranks ended with different parameters. All need rank 0's before the first step, "
            "and then the same steps: it is the gradients that are averaged, after each backward "
            "and before its step. A loss that is averaged changes no gradient.",
        ),
    ),
)
