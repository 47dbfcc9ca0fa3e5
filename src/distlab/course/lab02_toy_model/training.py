"""Lab 02: training one model on several ranks, by hand and with DDP."""

from __future__ import annotations

import numpy as np

from distlab.course.lab02_toy_model.weights import (
    LAB,
    loss_of,
    pinned_weights,
    ranks_differ,
    starting_from,
    trained,
)
from distlab.exercises.compare import Tolerance
from distlab.exercises.exercise import Case, Exercise, Hint, Look

# average_gradients


def _layers(case: Case) -> list[tuple[int, int]]:
    sizes = case.get("sizes", [10, 10, 5])
    return list(zip(sizes[:-1], sizes[1:], strict=True))


def _gradient_inputs(case: Case) -> list[dict]:
    dtype, layers = case.get("dtype", "float32"), _layers(case)
    rows = case.get("rows", 4)
    shared = case.generator(stream=3)
    weights = []
    for inside, outside in [*layers, (inside_of_unused := layers[0][0], 3)]:
        weights.append(shared.standard_normal((outside, inside)).astype(dtype))
        weights.append(shared.standard_normal(outside).astype(dtype))
    assert inside_of_unused == layers[0][0]
    return [
        {
            "weights": weights, "unused": case.get("unused", False),
            "frozen": case.get("frozen", False), "zero": rank in case.get("zero", []),
            "inputs": case.draw(rank, (rows, layers[0][0]), dtype),
            "targets": case.draw(rank + 50, (rows, layers[-1][1]), dtype),
        }
        for rank in range(case.size)
    ]  # fmt: skip


def _after_backward(inputs):
    """A model whose gradients are those of this rank's own data."""
    import torch
    from torch import nn

    weights = inputs["weights"]
    linear = [nn.Linear(w.shape[1], w.shape[0], dtype=w.dtype) for w in weights[::2]]
    model = nn.Module()
    model.layers = nn.ModuleList(linear[:-1])
    if inputs["unused"]:
        model.unused = linear[-1]
    with torch.no_grad():
        for layer, weight, bias in zip(linear, weights[::2], weights[1::2], strict=True):
            layer.weight.copy_(weight)
            layer.bias.copy_(bias)
    if inputs["frozen"]:
        linear[0].requires_grad_(False)
    values = inputs["inputs"]
    for number, layer in enumerate(model.layers):
        values = layer(values if number == 0 else torch.relu(values))
    nn.functional.mse_loss(values, inputs["targets"]).backward()
    if inputs["zero"]:
        for parameter in model.layers.parameters():
            parameter.grad.zero_()
    return model


def _call_average_gradients(function, rank, size, inputs):
    model = _after_backward(inputs)
    function(model)
    return {
        "gradients": [p.grad for p in model.parameters()],
        "parameters": [p.detach() for p in model.parameters()],
    }


def _gradients(tree) -> list:
    return tree["gradients"]


def _scaled(factor) -> callable:
    """Every gradient is this factor times the right one."""

    def shows(look: Look) -> bool:
        by = factor(look)
        return by != 1 and all(
            (right is None and got is None) or look.same(right * by, got)
            for r in look.ranks
            for right, got in zip(
                _gradients(look.expected[r]), _gradients(look.got[r]), strict=True
            )
        )

    return shows


def _none_filled(look: Look) -> bool:
    return any(
        right is None and got is not None
        for r in look.ranks
        for right, got in zip(_gradients(look.expected[r]), _gradients(look.got[r]), strict=True)
    )


average_gradients = Exercise(
    "average_gradients",
    LAB,
    4,
    make=_gradient_inputs,
    call=_call_average_gradients,
    asks="After average_gradients every gradient of the model is the mean of that gradient over "
    "all ranks; parameters stay as they are, and a parameter that has no gradient keeps none.",
    visible=(Case(2, 1), Case(4, 2, {"sizes": [3, 2], "unused": True})),
    hints=(
        Hint(
            "gradient made up",
            _none_filled,
            "A parameter that was not used in the forward pass has the gradient None on every "
            "rank, and has to keep it: an optimizer skips None, but steps with a zero.",
        ),
        Hint(
            "sum for mean",
            _scaled(lambda look: look.size),
            "Every gradient is the sum over the ranks: a mean is divided by their number.",
        ),
        Hint(
            "divided twice",
            _scaled(lambda look: 1 / look.size),
            "Every gradient is the mean divided once more by the number of ranks: divide before "
            "the sum or after it, not both.",
        ),
        Hint(
            "divided by another number",
            lambda look: any(_scaled(lambda look, n=n: look.size / n)(look) for n in range(1, 9)),
            "The gradients are the right sums over a wrong number: ask the process group for its "
            "size.",
        ),
        Hint(
            "some gradients left out",
            lambda look: ranks_differ(look, _gradients),
            "The ranks still have different gradients. Every parameter that has a gradient takes "
            "part, and the result has to end up in its .grad, not in a copy.",
        ),
    ),
)


# demo_basic


def _step_inputs(case: Case) -> list[dict]:
    rows = case.get("rows", 6)
    return [
        {
            "weights": pinned_weights(case, rank),
            "inputs": case.draw(rank, (rows, 10)),
            "targets": 3 * case.draw(rank + 50, (rows, 5)),
        }
        for rank in range(case.size)
    ]


def _call_demo_basic(function, rank, size, inputs):
    with starting_from(inputs["weights"]):
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


def _moved(look: Look, r: int) -> tuple[np.ndarray, np.ndarray]:
    """How far the parameters went from rank 0's, as flat arrays: expected and got."""
    begin = np.concatenate([w.ravel() for w in look.inputs[0]["weights"]])
    return tuple(
        np.concatenate([p.ravel() for p in tree["parameters"]]) - begin
        for tree in (look.expected[r], look.got[r])
    )


def _wrong_length(look: Look) -> bool:
    """The step goes the right way by the wrong amount."""
    expected, got = _moved(look, 0)
    ratio = float(expected @ got / (expected @ expected))
    return abs(ratio - 1) > 0.02 and np.abs(got - ratio * expected).max() < 0.02 * np.abs(got).max()


demo_basic = Exercise(
    "demo_basic",
    LAB,
    4,
    make=_step_inputs,
    call=_call_demo_basic,
    asks="demo_basic makes one SGD step (lr 0.001) on a ToyModel wrapped in DDP and returns this "
    "rank's own MSE loss before the step and the parameters after it.",
    visible=(Case(2, 1), Case(4, 2, {"rows": 3})),
    rules=(_reduced_by_ddp,),
    tolerance=Tolerance(rtol=1e-5, atol=2e-6),
    hints=(
        Hint(
            "ranks ended differently",
            lambda look: ranks_differ(look, lambda tree: tree["parameters"]),
            "The ranks ended with different parameters. DDP gives every rank rank 0's weights "
            "when it wraps the model, and averages gradients only of what went through its own "
            "forward.",
        ),
        Hint(
            "loss as a tensor",
            lambda look: any(isinstance(got["loss"], np.ndarray) for got in look.got),
            "The loss is a tensor of one element: item() makes a plain number of it.",
        ),
        Hint(
            "no step",
            lambda look: bool(np.abs(_moved(look, 0)[1]).max() == 0),
            "The parameters are those before the step. The order is forward, loss, backward, step.",
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
            lambda look: all(
                np.isclose(
                    look.got[r]["loss"],
                    loss_of(
                        look.expected[r]["parameters"],
                        look.inputs[r]["inputs"],
                        look.inputs[r]["targets"],
                    ),
                    rtol=1e-5,
                )
                for r in look.ranks
            ),
            "The loss was computed after the step: return the one that the backward pass began "
            "from.",
        ),
        Hint(
            "loss of all ranks",
            lambda look: look.size > 1 and len({round(g["loss"], 4) for g in look.got}) == 1,
            "Every rank returned the same loss. Asked for is each rank's own: DDP averages "
            "gradients, the losses differ.",
        ),
        Hint(
            "own weights",
            lambda look: any(
                np.isclose(
                    look.got[r]["loss"],
                    loss_of(
                        look.inputs[r]["weights"],
                        look.inputs[r]["inputs"],
                        look.inputs[r]["targets"],
                    ),
                    rtol=1e-5,
                )
                for r in look.ranks
                if r > 0
            ),
            "The loss is that of this rank's own first weights: compute it after DDP has wrapped "
            "the model, when all ranks have rank 0's.",
        ),
    ),
)


# train


def _train_inputs(case: Case) -> list[dict]:
    rows = case.get("rows", [4, 4, 2])
    return [
        {
            "weights": pinned_weights(case, rank),
            "batches": [
                (
                    case.draw(rank + 10 * number, (count, 10)),
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


def _union(look: Look) -> list:
    return [
        tuple(np.concatenate(parts) for parts in zip(*batches, strict=True))
        for batches in zip(*(look.inputs[r]["batches"] for r in look.ranks), strict=True)
    ]


def _like(simulated) -> callable:
    """Every rank returned what this mistake would give."""

    def shows(look: Look) -> bool:
        return all(look.same(simulated(look, r), look.got[r]) for r in look.ranks)

    return shows


def _begin(look: Look, r: int = 0) -> list[np.ndarray]:
    return look.inputs[r]["weights"]


def _lr(look: Look) -> float:
    return look.inputs[0]["lr"]


train = Exercise(
    "train",
    LAB,
    5,
    make=_train_inputs,
    call=_call_train,
    asks="train makes one SGD step for each batch, and every rank ends with the parameters that "
    "one process would have reached from rank 0's weights on the batches of all ranks put "
    "together.",
    visible=(Case(2, 1), Case(3, 2, {"rows": [2, 5], "lr": 0.05})),
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
            lambda look: all(
                any(
                    look.same(
                        trained(_begin(look, k), look.inputs[r]["batches"], _lr(look)), look.got[r]
                    )
                    for k in {0, r}
                )
                for r in look.ranks
            ),
            "Every rank has trained on its own batches alone: between backward and step the "
            "gradients of all ranks have to be averaged.",
        ),
        Hint(
            "gradients pile up",
            _like(lambda look, r: trained(_begin(look), _union(look), _lr(look), pile_up=True)),
            "The gradients of earlier batches are still in .grad and are added to: they have to "
            "be cleared before each backward.",
        ),
        Hint(
            "sum for mean",
            _like(lambda look, r: trained(_begin(look), _union(look), _lr(look) * look.size)),
            "Every step is as many times too long as there are ranks: a sum where a mean "
            "belongs, or a learning rate multiplied.",
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
            "ranks began differently",
            lambda look: ranks_differ(look, lambda tree: tree),
            "The ranks ended with different parameters. Each builds a ToyModel with random "
            "weights of its own: before the first step all need rank 0's.",
        ),
    ),
)
