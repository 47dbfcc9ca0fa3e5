"""Running a model's stages: what they are given, what they have to send, and hints."""

from __future__ import annotations

import ast
import contextlib
import itertools
from collections import Counter

import numpy as np

from distlab.exercises import sources
from distlab.exercises.exercise import Case, Hint, Look
from distlab.exercises.hints import holds_a_number
from distlab.exercises.raised import Advice, Raised
from distlab.rank import models

GRADIENTS = "gradients of its stage's parameters"
OF_INPUTS = "gradient of its inputs"
WEIGHTS = "parameters of its stage"


def model_inputs(case: Case) -> list[dict]:
    """The whole model, of which each rank is given its own part (`own_part`).

    `widths`: features in front of and behind each stage; `bare`: ranks whose stage is a Tanh alone.
    """
    shared, dtype = case.generator(), case.get("dtype", "float32")
    widths, rows = case.params["widths"], case.get("rows", [4])
    weights = []
    for rank, (inside, outside) in enumerate(itertools.pairwise(widths)):
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
    return [given] * case.size


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
    from torch import nn

    linear = [] if weights is None else [models.linear(*weights)]
    return nn.Sequential(*linear, nn.Tanh())


def activations(inputs: dict, rank: int) -> np.ndarray:
    """What the stages before this rank's make of the batch."""
    values = inputs["batch"]
    for weights in inputs["weights"][:rank]:
        if weights is not None:
            values = values @ weights[0].T + weights[1]
        values = np.tanh(values)
    return values


def call_step(function, rank, size, inputs, watching=contextlib.nullcontext) -> dict:
    """Call a step of a pipeline on this rank's stage, within `watching(stage)`."""
    import torch

    stage = stage_of(inputs["weights"][rank])
    batch = inputs["batch"] if rank == 0 else None
    targets = inputs["targets"] if rank == size - 1 else None
    before = models.parameters(stage)
    with watching(stage):
        loss = function(rank, size, stage, batch, targets, inputs["microbatches"])
    now = models.parameters(stage)
    same = len(now) == len(before) and all(map(torch.equal, now, before))
    return {
        "returned": loss,
        GRADIENTS: models.gradients(stage.parameters()),
        WEIGHTS: "as they were" if same else "changed",
    }


def chain(step: int):
    """One message from each rank to its neighbour in one direction."""
    return lambda case: [(r, r + step) for r in range(case.size) if 0 <= r + step < case.size]


def both_ways(case: Case) -> list[tuple[int, int]]:
    """The messages of a pipeline's step: a micro-batch forward and its gradient back, each time."""
    return (chain(1)(case) + chain(-1)(case)) * case.params["microbatches"]


def as_many_as_asked(look: Look) -> bool:
    """Do the ranks send the messages that are asked for, in whatever order? The order of others
    tells nothing: torch's own schedules exchange shapes as well.
    """
    return Counter((e.rank, e.peer) for e in look.events("send")) == Counter(both_ways(look.case))


def gradients(look: Look, *ranks: int) -> list[tuple[np.ndarray, np.ndarray | None]]:
    """(the right gradient, the one found) of every parameter on these ranks, or on all."""
    pairs = look.pairs(GRADIENTS)
    return [both for rank in ranks or look.ranks for both in zip(*pairs[rank], strict=True)]


def no_gradient(look: Look) -> bool:
    """Has some parameter no gradient?"""
    return any(found is None for _, found in gradients(look))


def too_large(look: Look, factor: int, *ranks: int) -> bool:
    """Are all gradients on these ranks, or on all, so many times what they should be?"""
    found = gradients(look, *ranks)
    return factor != 1 and bool(found) and all(look.same(factor * want, got) for want, got in found)


def right_stages(look: Look) -> list[bool]:
    """Whether all gradients of each rank's stage are right."""
    return [look.same(want, got) for want, got in look.pairs(GRADIENTS)]


def right_at_the_end_alone(look: Look) -> bool:
    """Are the gradients of the last stage right and those before it wrong?"""
    *before, last = right_stages(look)
    return last and not all(before)


def microbatches(look: Look) -> int:
    return look.case.params["microbatches"]


#: mistakes that a pipeline can have in any order of its micro-batches
OF_A_STEP = (
    Hint(
        "step taken",
        lambda look: look.differs(WEIGHTS),
        "The parameters of a stage have changed. Gradients are asked for: the optimizer's step is "
        "left to the caller.",
    ),
    Hint(
        "sum for mean",
        lambda look: too_large(look, microbatches(look)),
        "All gradients are `microbatches` times too large. The loss of the whole batch is the "
        "mean of the micro-batches' losses: what has to be done to each of them before "
        "backward()?",
    ),
    Hint(
        "sum over elements",
        lambda look: any(
            too_large(look, look.inputs[0]["targets"].size // parts)
            for parts in (1, microbatches(look))
        ),
        "All gradients are too large by the number of elements in the targets, those of a "
        "micro-batch or of the whole batch. F.mse_loss returns the mean over elements, unless "
        "told otherwise: take it as it comes.",
    ),
    Hint(
        "sum of the losses",
        lambda look: (
            microbatches(look) > 1
            and look.same(look.wanted[-1] * microbatches(look), look.returned[-1])
        ),
        "The returned loss is the sum over the micro-batches: their mean is asked for.",
    ),
    Hint(
        "tensor for float",
        lambda look: holds_a_number(look.returned[-1]),
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
        lambda look: look.returned[-1] is None,
        "The last rank returned None: the mean loss is asked for. (It is rank size − 1, which "
        "is rank 0 where there is only one.)",
    ),
    Hint(
        "loss of another batch",
        lambda look: all(right_stages(look)) and look.differs("returned"),
        "All gradients are right, the returned loss is not: it is the mean over the whole batch, "
        "so each micro-batch's loss counts.",
    ),
    Hint(
        "no gradients",
        no_gradient,
        "Some parameters have no gradient: do they take part in a graph that backward() goes "
        "through, on every rank?",
    ),
    Hint(
        "gradients mixed up",
        right_at_the_end_alone,
        "The last stage's gradients are right, those in front of it are not. Each micro-batch "
        "has an output of its own and a gradient of its own: do the two that meet in "
        "backward() belong together? Both neighbours have to go through the micro-batches in "
        "the same order.",
    ),
)


def _split(raised: Raised) -> bool:
    """Does the answer cut something into parts of `microbatches` rows?"""
    return raised.answer is not None and any(
        isinstance(node, ast.Call)
        and sources.called(node) == "split"
        and "microbatches" in map(ast.unparse, node.args)
        for node in ast.walk(raised.answer)
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
