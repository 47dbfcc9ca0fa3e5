"""Running a model's stages: what they are given, what they have to send, and hints."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

import numpy as np

from distlab.exercises import sources
from distlab.exercises.exercise import Case, Hint, Look
from distlab.exercises.hints import holds_a_number
from distlab.exercises.raised import Advice, Raised

GRADIENTS = "gradients of its stage's parameters"
OF_INPUTS = "gradient of its inputs"
WEIGHTS = "parameters of its stage"


def model_inputs(case: Case) -> list[dict]:
    """The whole model, of which each rank is given its own part (`own_part`).

    `widths`: features in front of and behind each stage; `bare`: ranks whose stage is a Tanh alone.
    """
    shared, dtype = case.generator(), case.get("dtype", "float32")
    widths = case.get("widths", [3] * (case.size + 1))
    rows = case.get("rows", [4])
    weights = []
    for rank, (inside, outside) in enumerate(zip(widths[:-1], widths[1:], strict=True)):
        bare = rank in case.get("bare", [])
        drawn = shared.uniform(-1, 1, (outside, inside + 1)).astype(dtype)
        weights.append(None if bare else [drawn[:, 1:].copy(), drawn[:, 0].copy()])
    given = {
        "weights": weights,
        "batch": shared.standard_normal((*rows, widths[0])).astype(dtype),
        "targets": shared.standard_normal((*rows, widths[-1])).astype(dtype),
        "microbatches": case.get("microbatches", 1),
        "back": [shared.standard_normal((*rows, w)).astype(dtype) for w in widths[1:]],
    }
    return [dict(given) for _ in range(case.size)]


def own_part(inputs: dict, rank: int, size: int) -> dict:
    """This rank's share of what is divided among ranks; a buffer in place of activations."""
    return behind(inputs, rank, size, np.zeros_like(activations(inputs, rank)))


def behind(inputs: dict, rank: int, size: int, activations: np.ndarray) -> dict:
    """The same, with what arrives from the stage in front given."""

    def mine(values: list) -> list:
        return [value if place == rank else None for place, value in enumerate(values)]

    return inputs | {
        "weights": mine(inputs["weights"]),
        "back": mine(inputs["back"]),
        "batch": inputs["batch"] if rank == 0 else activations,
        "targets": inputs["targets"] if rank == size - 1 else None,
    }


def stage_of(weights):
    import torch
    from torch import nn

    if weights is None:
        return nn.Sequential(nn.Tanh())
    weight, bias = weights
    linear = nn.Linear(*reversed(weight.shape), dtype=weight.dtype, device=weight.device)
    with torch.no_grad():
        linear.weight.copy_(weight)
        linear.bias.copy_(bias)
    return nn.Sequential(linear, nn.Tanh())


def activations(inputs: dict, rank: int) -> np.ndarray:
    """What the stages before this rank's make of the batch."""
    values = inputs["batch"]
    for weights in inputs["weights"][:rank]:
        if weights is not None:
            values = values @ weights[0].T + weights[1]
        values = np.tanh(values)
    return values


def gradients_of(stage) -> list:
    return [parameter.grad for parameter in stage.parameters()]


def weights_of(stage) -> list:
    """Copies of a stage's parameters."""
    return [parameter.detach().clone() for parameter in stage.parameters()]


def compared(stage, before: list) -> str:
    """Does a stage still have the parameters that `weights_of` gave?"""
    import torch

    now = weights_of(stage)
    same = len(now) == len(before) and all(map(torch.equal, now, before))
    return "as they were" if same else "changed"


def chain(step: int, times: str = ""):
    """Messages between neighbours in one direction, `times` of each (a case's parameter)."""

    def pairs(case: Case) -> list[tuple[int, int]]:
        ends = [(r, r + 1) if step > 0 else (r + 1, r) for r in range(case.size - 1)]
        return ends * (case.get(times, 1) if times else 1)

    return pairs


def both_ways(case: Case) -> list[tuple[int, int]]:
    """The messages of a pipeline's step: a micro-batch forward and its gradient back, each time."""
    return chain(1, "microbatches")(case) + chain(-1, "microbatches")(case)


def as_many_as_asked(look: Look) -> bool:
    """Do the ranks send the messages that are asked for, in whatever order? The order of others
    tells nothing: torch's own schedules exchange shapes as well.
    """
    return Counter((e.rank, e.peer) for e in look.events("send")) == Counter(both_ways(look.case))


def lost(name: str):
    """Is something of this name None where it should be a tensor?"""

    def shows(look: Look) -> bool:
        pairs = [
            (want[name], got[name])
            for want, got in zip(look.expected, look.got, strict=True)
            if name in want
        ]
        pairs = [
            p for w, g in pairs for p in (zip(w, g, strict=True) if name == GRADIENTS else [(w, g)])
        ]
        return any(want is not None and got is None for want, got in pairs)

    return shows


def _pairs_of_gradients(look: Look) -> Iterator[tuple[int, np.ndarray, object]]:
    """(rank, the right gradient, the one found) of every parameter."""
    for rank, (want, got) in enumerate(zip(look.expected, look.got, strict=True)):
        for right, found in zip(want[GRADIENTS], got[GRADIENTS], strict=True):
            yield rank, right, found


def factor_of(of):
    """Are all gradients right but for a factor, on some rank?"""

    def shows(look: Look) -> bool:
        factor = of(look)
        pairs = [(w, g) for _, w, g in _pairs_of_gradients(look) if w is not None]
        found = [g for w, g in pairs if g is not None and look.same(w * w.dtype.type(factor), g)]
        return factor != 1 and len(found) == len(pairs) > 0

    return shows


def _right(look: Look) -> list[bool]:
    """Whether all gradients of each rank's stage are right."""
    right = [True] * look.size
    for rank, want, got in _pairs_of_gradients(look):
        right[rank] = right[rank] and got is not None and look.same(want, got)
    return right


def right_at_the_end_alone(look: Look) -> bool:
    """Are the gradients of the last stage right and those before it wrong?"""
    *before, last = _right(look)
    return last and not all(before)


def wrong_at_the_end(look: Look) -> bool:
    """Are the gradients of the last stage wrong already?"""
    return not _right(look)[-1]


def microbatches(look: Look) -> int:
    return look.case.get("microbatches", 1)


def _losses(look: Look) -> tuple[object, float]:
    return look.returned[-1], look.wanted[-1]


#: mistakes that a pipeline can have in any order of its micro-batches
OF_A_STEP = (
    Hint(
        "step taken",
        lambda look: any(got[WEIGHTS] == "changed" for got in look.got),
        "The parameters of a stage have changed. Gradients are asked for: the optimizer's step is "
        "left to the caller.",
    ),
    Hint(
        "sum for mean",
        lambda look: factor_of(microbatches)(look),
        "All gradients are `microbatches` times too large. The loss of the whole batch is the "
        "mean of the micro-batches' losses: what has to be done to each of them before "
        "backward()?",
    ),
    Hint(
        "sum over elements",
        lambda look: any(
            factor_of(lambda look, n=n: look.inputs[0]["targets"].size // n)(look)
            for n in (1, microbatches(look))
        ),
        "All gradients are too large by the number of elements in the targets, those of a "
        "micro-batch or of the whole batch. F.mse_loss returns the mean over elements, unless "
        "told otherwise: take it as it comes.",
    ),
    Hint(
        "sum of the losses",
        lambda look: (
            microbatches(look) > 1
            and look.same(_losses(look)[1] * microbatches(look), _losses(look)[0])
        ),
        "The returned loss is the sum over the micro-batches: their mean is asked for.",
    ),
    Hint(
        "tensor for float",
        lambda look: holds_a_number(_losses(look)[0]),
        "The loss is to be a plain number: .item() makes one of a tensor with one element, and of "
        "a number of NumPy's.",
    ),
    Hint(
        "loss elsewhere",
        lambda look: look.size > 1 and any(got is not None for got in look.returned[:-1]),
        "Only the last rank knows the loss: the others return None.",
    ),
    Hint(
        "nothing returned",
        lambda look: _losses(look)[0] is None,
        "The last rank returned None: the mean loss is asked for. (It is rank size − 1, which "
        "is rank 0 where there is only one.)",
    ),
    Hint(
        "loss of another batch",
        lambda look: all(_right(look)) and not look.same(*_losses(look)),
        "All gradients are right, the returned loss is not: it is the mean over the whole batch, "
        "so each micro-batch's loss counts.",
    ),
    Hint(
        "no gradients",
        lost(GRADIENTS),
        "Some parameters have no gradient: do they take part in a graph that backward() goes "
        "through, on every rank?",
    ),
    Hint(
        "gradients mixed up",
        lambda look: right_at_the_end_alone(look),
        "The last stage's gradients are right, those in front of it are not. Each micro-batch "
        "has an output of its own and a gradient of its own: do the two that meet in "
        "backward() belong together? Both neighbours have to go through the micro-batches in "
        "the same order.",
    ),
)


def _split(raised: Raised) -> bool:
    """Does the answer cut something into parts of `microbatches` rows?"""
    nodes = ast.walk(raised.answer) if raised.answer is not None else ()
    return any(
        sources.called(node) == "split" and "microbatches" in map(ast.unparse, node.args)
        for node in nodes
        if isinstance(node, ast.Call)
    )


#: what helps after exceptions in a step of a pipeline
RAISED_IN_A_STEP = (
    Advice(
        "no shape told", r"rank \d+ has not told rank \d+ any shape",
        "told_buffer waits for a shape that the other rank tells it: that rank calls tell_shape, "
        "with the same src and dst, before it sends. In each direction, if told_buffer is used in "
        "both.",
    ),
    Advice(
        "split for chunk", "IndexError|StopIteration|must match|broadcast",
        "tensor.split(k) cuts into parts of k rows, tensor.chunk(k) into k parts.",
        _split,
    ),
)  # fmt: skip
