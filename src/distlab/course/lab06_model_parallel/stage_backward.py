"""`stage_backward`: the gradients back, from rank to rank."""

from __future__ import annotations

from distlab.course.lab06_model_parallel import pipeline
from distlab.exercises import hints, traffic
from distlab.exercises.compare import KEEPS_FLOAT64
from distlab.exercises.exercise import Case, Exercise, Hint
from distlab.rank.models import gradients


def _own_part_and_activations(inputs: dict, rank: int, size: int) -> dict:
    return pipeline.behind(inputs, rank, size, pipeline.activations(inputs, rank))


def _call_backward(function, rank, size, inputs):
    from torch.nn.functional import mse_loss

    stage, given = pipeline.stage_of(inputs["weights"][rank]), inputs["batch"]
    if rank > 0:
        given.requires_grad_()
    output = stage(given)
    loss = mse_loss(output, inputs["targets"]) if rank == size - 1 else None
    function(rank, size, output, given, loss)
    left = {pipeline.GRADIENTS: gradients(stage.parameters())}
    return left | ({pipeline.OF_INPUTS: given.grad} if rank > 0 else {})


exercise = Exercise(
    points=3,
    make=pipeline.model_inputs,
    share=_own_part_and_activations,
    call=_call_backward,
    tolerance=KEEPS_FLOAT64,
    asks="In stage_backward, the last rank begins from the loss, every other rank from the "
    "gradient of its output that it receives from the rank behind; each sends the gradient of its "
    "inputs back. After it every gradient is the undivided model's.",
    visible=(Case(2, 1, {"widths": [3, 5, 2]}), Case(4, 2, {"widths": [2, 6, 3, 4, 1]})),
    traffic=(traffic.no_collective_but_barrier, traffic.messages(pipeline.chain(-1))),
    hints=(
        hints.EARLY,
        Hint(
            "nothing went back",
            lambda look: not look.events("send") and look.size > 1,
            "No rank sent anything: the ranks in front need the gradient of what they passed on. "
            "After the backward pass of your own stage it lies in inputs.grad.",
        ),
        Hint(
            "no backward in front",
            lambda look: len(look.events("send")) == look.size - 1 and pipeline.no_gradient(look),
            "The stage's parameters have no gradient on some rank: what arrives is the gradient of "
            "the rank's output, from which its backward pass begins "
            "(look at the arguments of Tensor.backward).",
        ),
        Hint(
            "twice before the last",
            lambda look: (
                pipeline.right_at_the_end_alone(look) and pipeline.too_large(look, 2, look.size - 2)
            ),
            "The gradients of the rank before the last are twice what they should be: backward() "
            "adds to .grad, so call it once. And what goes into it is the inputs.grad of the rank "
            "behind, as it is.",
        ),
        Hint(
            "ones in place of the gradient",
            pipeline.right_at_the_end_alone,
            "The last rank's gradients are right, those in front of it are not. A backward pass "
            "that begins at `output` has to be told the gradient of the loss with respect to it, "
            "and that is what the rank behind sends: the gradient of its inputs, not the inputs.",
        ),
        Hint(
            "twice",
            lambda look: pipeline.too_large(look, 2, look.size - 1),
            "The last rank's gradients are twice what they should be. backward() adds to .grad: "
            "call it once, on `loss` as it is given.",
        ),
        Hint(
            "not from the loss",
            lambda look: not pipeline.right_stages(look)[-1],
            "The last rank's gradients are wrong already. Its backward pass begins at `loss`, as "
            "it is given, and not at `output`.",
        ),
    ),
)
