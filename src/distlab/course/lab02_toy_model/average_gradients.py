"""`average_gradients`: the mean of all gradients, by hand."""

from __future__ import annotations

from collections.abc import Callable

from distlab.exercises.compare import KEEPS_FLOAT64
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.rank.models import linear


def _gradient_inputs(case: Case) -> list[dict]:
    dtype, rows = case.get("dtype", "float32"), case.get("rows", 4)
    sizes = case.get("sizes", [10, 10, 5])
    layers = [*zip(sizes[:-1], sizes[1:], strict=True), (sizes[0], 3)]  # the last is the unused one
    shared = case.generator(stream=3)

    def weights() -> list:
        return [
            shared.standard_normal(shape).astype(dtype)
            for inside, outside in layers
            for shape in ((outside, inside), outside)
        ]

    equal = weights()
    return [
        {
            "weights": weights() if case.get("apart") else equal,
            "unused": case.get("unused", False),
            "frozen": case.get("frozen", False),
            "zero": rank in case.get("zero", []),
            "inputs": case.draw(rank, (rows, sizes[0]), dtype),
            "targets": case.draw(rank + 50, (rows, sizes[-1]), dtype),
        }
        for rank in range(case.size)
    ]


def _after_backward(inputs):
    """A model whose gradients are those of this rank's own data."""
    import torch
    from torch import nn

    weights = inputs["weights"]
    *layers, unused = map(linear, weights[::2], weights[1::2])
    model = nn.Module()
    model.layers = nn.ModuleList(layers)
    if inputs["unused"]:
        model.unused = unused
    if inputs["frozen"]:
        layers[0].requires_grad_(False)
    values = inputs["inputs"]
    for number, layer in enumerate(layers):
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


def _pairs(look: Look) -> list[tuple]:
    """(asked for, found) of all gradients of all ranks."""
    return [
        pair
        for wanted, found in look.pairs("gradients")
        for pair in zip(wanted, found, strict=True)
    ]


def _scaled(*factors) -> Callable:
    """Every gradient is one of these factors times the right one, and not all are right."""

    def shows(look: Look) -> bool:
        by = {factor(look) for factor in factors}
        found = [
            {one for one in by if look.same(right * one, got)}
            for right, got in _pairs(look)
            if not (right is None and got is None)
        ]
        return all(found) and any(1 not in matching for matching in found)

    return shows


exercise = Exercise(
    points=4,
    make=_gradient_inputs,
    call=_call_average_gradients,
    asks="After average_gradients every gradient of the model is the mean of that gradient over "
    "all ranks; parameters stay as they are, and a parameter that has no gradient keeps none.",
    visible=(Case(2, 1), Case(4, 2, {"sizes": [3, 2], "unused": True})),
    tolerance=KEEPS_FLOAT64,
    hints=(
        Hint(
            "gradient made up",
            lambda look: any(right is None and got is not None for right, got in _pairs(look)),
            "A parameter that was not used in the forward pass has the gradient None on every "
            "rank, and has to keep it: an optimizer skips None, but steps with a zero.",
        ),
        Hint(
            "sum for mean",
            _scaled(lambda look: look.size),
            "Every gradient is the sum over the ranks: a mean is divided by their number.",
        ),
        Hint(
            "multiplied",
            _scaled(lambda look: look.size**2),
            "Every gradient is the sum over the ranks times their number: summed twice, or "
            "multiplied where it is to be divided.",
        ),
        Hint(
            "sums among means",
            _scaled(lambda look: look.size, lambda look: 1),
            "Some gradients are means, others still sums over the ranks: each one is divided. Is "
            "the division inside the loop?",
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
            lambda look: look.ranks_differ("gradients"),
            "The ranks still have different gradients. Every parameter that has a gradient takes "
            "part, on every rank alike, and the result has to end up in its .grad, not in a copy.",
        ),
    ),
)
