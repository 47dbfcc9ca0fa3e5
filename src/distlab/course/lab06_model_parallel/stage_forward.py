"""`stage_forward`: a batch forward, from rank to rank."""

from __future__ import annotations

import numpy as np

from distlab.course.lab06_model_parallel.pipeline import (
    GRADIENTS,
    OF_INPUTS,
    chain,
    gradients_of,
    lost,
    model_inputs,
    own_part,
    stage_of,
)
from distlab.exercises import traffic
from distlab.exercises.compare import KEEPS_FLOAT64
from distlab.exercises.exercise import Case, Exercise, Hint
from distlab.exercises.hints import NOTHING

_ARRIVED = "buffer for the activations"


def _call_forward(function, rank, size, inputs):
    import torch

    stage, batch = stage_of(inputs["weights"][rank]), inputs["batch"]
    if rank > 0:  # NaN: what was not received is seen
        batch = torch.full_like(batch, float("nan")).requires_grad_()
    output = function(rank, size, stage, batch)
    arrived = batch.detach().clone()
    back = inputs["back"][rank]
    if isinstance(output, torch.Tensor) and output.requires_grad and output.shape == back.shape:
        output.backward(back)
    left = {"returned": output, GRADIENTS: gradients_of(stage)}
    return left | ({_ARRIVED: arrived, OF_INPUTS: batch.grad} if rank > 0 else {})


def _all_nan(value) -> bool:
    return isinstance(value, np.ndarray) and value.size > 0 and bool(np.isnan(value).all())


exercise = Exercise(
    points=2,
    make=model_inputs,
    share=own_part,
    call=_call_forward,
    tolerance=KEEPS_FLOAT64,
    asks="In stage_forward, rank 0 runs its stage on the batch, every other rank on the "
    "activations that it receives from the rank before; each sends its output on and returns it "
    "with its graph.",
    visible=(Case(2, 1, {"widths": [3, 5, 2]}), Case(4, 2, {"widths": [2, 6, 3, 4, 1]})),
    traffic=(traffic.no_collective_but_barrier, traffic.messages(chain(1))),
    hints=(
        NOTHING,
        Hint(
            "received elsewhere",
            lambda look: any(event.op == "recv" for event in look.events())
            and any(_all_nan(got.get(_ARRIVED)) for got in look.got),
            "The activations arrived in another tensor, or were read before they had arrived: "
            "receive into `inputs`, and wait for it. Its .grad is what goes back "
            "in the backward pass.",
        ),
        Hint(
            "nothing received",
            lambda look: any(_all_nan(got.get(_ARRIVED)) for got in look.got),
            "On ranks above 0, `inputs` is an empty buffer until you receive into it.",
        ),
        Hint(
            "run before the receive",
            lambda look: all(event.blocking for event in look.events("recv")) and any(
                _all_nan(output) and not _all_nan(got.get(_ARRIVED))
                for output, got in zip(look.returned[1:], look.got[1:], strict=True)
            ),
            "The activations are there, and the output was made of the buffer before they had "
            "arrived: receive first, then run the stage.",
        ),
        Hint(
            "inputs passed on",
            lambda look: look.size > 1 and len(look.events("send")) == look.size - 1
            and all(look.same(look.got[1][_ARRIVED], got.get(_ARRIVED)) for got in look.got[1:])
            and look.same(look.inputs[0]["batch"], look.got[1][_ARRIVED]),
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
                for got, want in zip(look.returned, look.wanted, strict=True)
            ),
            "A rank returned a tensor of another shape than the output of its stage has: return "
            "what the stage made of `inputs`, as it is.",
        ),
        Hint(
            "output without graph",
            lambda look: lost(GRADIENTS)(look),
            "A backward pass through the returned output did not reach the stage's parameters. "
            "Return the output as the stage gave it: detach only what you send, and "
            "compute outside of torch.no_grad().",
        ),
        Hint(
            "inputs without graph",
            lambda look: lost(OF_INPUTS)(look),
            "A backward pass through the returned output left no gradient in `inputs`: run the "
            "stage on `inputs` itself, not on a detached one or a copy.",
        ),
        Hint(
            "closed to a ring",
            lambda look: look.size > 1
            and any((e.rank, e.peer) == (look.size - 1, 0) for e in look.events("send")),
            "The last rank has nobody to send to: its output is the model's.",
        ),
    ),
)  # fmt: skip
