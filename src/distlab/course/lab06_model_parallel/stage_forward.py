"""`stage_forward`: a batch forward, from rank to rank."""

from __future__ import annotations

import numpy as np

from distlab.course.lab06_model_parallel import pipeline
from distlab.exercises import traffic
from distlab.exercises.compare import KEEPS_FLOAT64
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.hints import NOTHING
from distlab.rank.models import gradients

_ARRIVED = "buffer for the activations"


def _call_forward(function, rank, size, inputs):
    import torch

    stage, batch = pipeline.stage_of(inputs["weights"][rank]), inputs["batch"]
    if rank > 0:  # NaN: what was not received is seen
        batch = torch.full_like(batch, float("nan")).requires_grad_()
    output = function(rank, size, stage, batch)
    arrived = batch.detach().clone()
    back = inputs["back"][rank]
    if isinstance(output, torch.Tensor) and output.requires_grad and output.shape == back.shape:
        output.backward(back)
    left = {"returned": output, pipeline.GRADIENTS: gradients(stage.parameters())}
    return left | ({_ARRIVED: arrived, pipeline.OF_INPUTS: batch.grad} if rank > 0 else {})


def _all_nan(value) -> bool:
    return isinstance(value, np.ndarray) and value.size > 0 and bool(np.isnan(value).all())


def _nothing_arrived(look: Look) -> bool:
    return any(map(_all_nan, look.left(_ARRIVED)))


exercise = Exercise(
    points=2,
    make=pipeline.model_inputs,
    share=pipeline.own_part,
    call=_call_forward,
    tolerance=KEEPS_FLOAT64,
    asks="In stage_forward, rank 0 runs its stage on the batch, every other rank on the "
    "activations that it receives from the rank before; each sends its output on and returns it "
    "with its graph.",
    visible=(Case(2, 1, {"widths": [3, 5, 2]}), Case(4, 2, {"widths": [2, 6, 3, 4, 1]})),
    traffic=(traffic.no_collective_but_barrier, traffic.messages(pipeline.chain(1))),
    hints=(
        NOTHING,
        Hint(
            "received elsewhere",
            lambda look: bool(look.events("recv")) and _nothing_arrived(look),
            "The activations arrived in another tensor, or were read before they had arrived: "
            "receive into `inputs`, and wait for it. Its .grad is what goes back "
            "in the backward pass.",
        ),
        Hint(
            "nothing received",
            _nothing_arrived,
            "On ranks above 0, `inputs` is an empty buffer until you receive into it.",
        ),
        Hint(
            "run before the receive",
            lambda look: (
                all(event.blocking for event in look.events("recv"))
                and any(map(_all_nan, look.returned[1:]))
            ),
            "The activations are there, and the output was made of the buffer before they had "
            "arrived: receive first, then run the stage.",
        ),
        Hint(
            "inputs passed on",
            lambda look: (
                len(look.events("send")) == look.size - 1 > 0
                and all(look.same(look.inputs[0]["batch"], x) for x in look.left(_ARRIVED)[1:])
            ),
            "Rank 1 received the batch itself: send what your stage made of its inputs.",
        ),
        Hint(
            "last output alone",
            lambda look: look.size > 1 and any(got is None for got in look.returned),
            "Every rank returns the output of its own stage, not the last one alone: the backward "
            "pass begins from it.",
        ),
        Hint(
            "not the stage's output",
            lambda look: any(
                isinstance(got, np.ndarray) and got.shape != want.shape
                for want, got in look.pairs()
            ),
            "A rank returned a tensor of another shape than the output of its stage has: return "
            "what the stage made of `inputs`, as it is.",
        ),
        Hint(
            "output without graph",
            pipeline.no_gradient,
            "A backward pass through the returned output did not reach the stage's parameters. "
            "Return the output as the stage gave it: detach only what you send, and "
            "compute outside of torch.no_grad().",
        ),
        Hint(
            "inputs without graph",
            lambda look: any(gradient is None for gradient in look.left(pipeline.OF_INPUTS)[1:]),
            "A backward pass through the returned output left no gradient in `inputs`: run the "
            "stage on `inputs` itself, not on a detached one or a copy.",
        ),
        Hint(
            "closed to a ring",
            lambda look: (
                look.size > 1
                and any((e.rank, e.peer) == (look.size - 1, 0) for e in look.events("send"))
            ),
            "The last rank has nobody to send to: its output is the model's.",
        ),
    ),
)
