"""`train`: steps that come out as those of a single process."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from distlab.course.lab02_toy_model.weights import (
    by_gradients_alone,
    pinned_weights,
    ranks_differ,
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
    return [
        tuple(np.concatenate(parts) for parts in zip(*batches, strict=True))
        for batches in zip(*(look.inputs[r]["batches"] for r in look.ranks), strict=True)
    ]


def _like(simulated) -> Callable:
    """A hint's `shows`: did every rank return what this mistake gives?"""

    def shows(look: Look) -> bool:
        return all(look.same(simulated(look, r), look.got[r]) for r in look.ranks)

    return shows


def _any_of(simulated, choices) -> Callable:
    """A hint's `shows`: did every rank return what this mistake gives, in one of its forms?"""

    def shows(look: Look) -> bool:
        return any(_like(lambda look, r, c=c: simulated(look, c))(look) for c in choices)

    return shows


def _averaged_at_the_end(look: Look, r: int) -> list[np.ndarray]:
    """The mean of what ranks reach that each train alone from rank 0's weights."""
    alone = [trained(_begin(look), look.inputs[k]["batches"], _lr(look)) for k in look.ranks]
    return [np.mean(tensors, axis=0) for tensors in zip(*alone, strict=True)]


def _by_sum_of_squares(look: Look, r: int) -> list[np.ndarray]:
    weights = _begin(look)
    for batch in _union(look):
        weights = trained(weights, [batch], _lr(look) * batch[1].size / look.size)
    return weights


def _agree(look: Look) -> list[bool]:
    """For each tensor: do all ranks have the same?"""
    return [
        all(look.same(tensors[0], tensor) for tensor in tensors)
        for tensors in zip(*look.got, strict=True)
    ]


def _begin(look: Look, r: int = 0) -> list[np.ndarray]:
    return look.inputs[r]["weights"]


def _lr(look: Look) -> float:
    return look.inputs[0]["lr"]


def _moved_alike(look: Look) -> bool:
    """Did all ranks take the same steps, from weights of their own?"""

    def moved(r: int) -> list[np.ndarray]:
        return [got - own for got, own in zip(look.got[r], _begin(look, r), strict=True)]

    return all(look.same(moved(0), moved(r)) for r in look.ranks)


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
            lambda look: (
                any(look.inputs[0]["batches"])
                and all(
                    any(look.same(_begin(look, k), look.got[r]) for k in {0, r}) for r in look.ranks
                )
            ),
            "The parameters are those from the beginning: no step has reached them.",
        ),
        Hint(
            "no averaging",
            lambda look: (
                any(look.inputs[0]["batches"])
                and all(
                    any(
                        look.same(
                            trained(_begin(look, k), look.inputs[r]["batches"], _lr(look)),
                            look.got[r],
                        )
                        for k in {0, r}
                    )
                    for r in look.ranks
                )
            ),
            "Every rank has trained on its own batches alone: between backward and step the "
            "gradients of all ranks have to be averaged.",
        ),
        Hint(
            "gradients pile up",
            _like(lambda look, r: trained(_begin(look), _union(look), _lr(look), kept=1)),
            "The gradients of earlier batches are still in .grad and are added to: they have to "
            "be cleared before each backward.",
        ),
        Hint(
            "momentum",
            _any_of(
                lambda look, kept: trained(_begin(look), _union(look), _lr(look), kept),
                (0.5, 0.9, 0.95, 0.99),
            ),
            "A part of each step goes into the next one, as with momentum: plain SGD has none.",
        ),
        Hint(
            "sum of squares",
            _like(_by_sum_of_squares),
            "The loss is the sum of the squared errors. MSE is their mean over all elements, which "
            "is what the loss function gives when it is not told otherwise.",
        ),
        Hint(
            "sum for mean",
            _like(lambda look, r: trained(_begin(look), _union(look), _lr(look) * look.size)),
            "Every step is as many times too long as there are ranks: a sum where a mean "
            "belongs, or a learning rate multiplied.",
        ),
        Hint(
            "uphill",
            _like(lambda look, r: trained(_begin(look), _union(look), -_lr(look))),
            "Every step goes uphill: it is against the gradient that the loss falls.",
        ),
        Hint(
            "divided twice",
            _like(lambda look, r: trained(_begin(look), _union(look), _lr(look) / look.size)),
            "Every step is too short by the number of ranks: the gradients are divided twice "
            "(DDP has already divided them).",
        ),
        Hint(
            "first batch alone",
            _like(lambda look, r: trained(_begin(look), _union(look)[:1], _lr(look))),
            "Only the first batch was used: look for a return inside the loop.",
        ),
        Hint(
            "several passes",
            _any_of(
                lambda look, passes: trained(_begin(look), _union(look) * passes, _lr(look)),
                range(2, 11),
            ),
            "The batches were used more than once: asked for is one step for each.",
        ),
        Hint(
            "averaged at the end",
            _like(_averaged_at_the_end),
            "Every rank has trained by itself, and only the weights at the end were averaged. That "
            "is another training from the second step on: average at every step.",
        ),
        Hint(
            "a batch left out",
            _any_of(
                lambda look, part: trained(_begin(look), _union(look)[part], _lr(look)),
                (slice(-1), slice(1, None)),
            ),
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
            lambda look: ranks_differ(look, lambda tree: tree) and _moved_alike(look),
            "The ranks ended with different parameters. Each builds a ToyModel with random "
            "weights of its own: before the first step all need rank 0's.",
        ),
        Hint(
            "ranks stepped differently",
            lambda look: ranks_differ(look, lambda tree: tree),
            "The ranks ended with different parameters. All need rank 0's before the first step, "
            "and then the same steps: it is the gradients that are averaged, after each backward "
            "and before its step. A loss that is averaged changes no gradient.",
        ),
    ),
)
