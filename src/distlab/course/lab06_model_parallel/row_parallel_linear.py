"""`row_parallel_linear`: a linear layer whose inputs are divided."""

from __future__ import annotations

from distlab.course.lab06_model_parallel import tensor_parallel
from distlab.exercises import hints
from distlab.exercises.exercise import Case, Exercise, Hint, Look


def _holds_bias(look: Look, times: int) -> bool:
    """Is the output right, but for how often the bias is in it?"""
    extra = look.inputs[0]["bias"] * (times - 1)
    return all(look.same(want + extra, got) for want, got in look.pairs())


def _mean(look: Look) -> bool:
    """Is the sum over the ranks divided by their number, with the bias or without it?"""
    bias = look.inputs[0]["bias"]
    return look.size > 1 and any(
        all(look.same((want - own) / look.size + own, got) for want, got in look.pairs())
        for own in (bias, 0 * bias)
    )


exercise = Exercise(
    points=4,
    make=tensor_parallel.layer("in"),
    share=tensor_parallel.own_part,
    call=tensor_parallel.call_linear,
    asks="In row_parallel_linear, each rank multiplies its slice of the input with its slice of "
    "weight, and every rank returns the output of the full layer; gradients are those of the full "
    "layer.",
    visible=(
        Case(2, 1, {"in": 4, "out": 3, "rows": [5]}),
        Case(3, 2, {"in": 6, "out": 4, "rows": [2, 3]}),
    ),
    hints=(
        hints.NOTHING,
        tensor_parallel.WORK,
        Hint(
            "bias on every rank",
            lambda look: look.size > 1 and _holds_bias(look, look.size),
            "The bias is in the output `size` times: every rank added it before the sum.",
        ),
        Hint("no bias", lambda look: _holds_bias(look, 0), "The bias is missing."),
        Hint(
            "mean for sum",
            _mean,
            "The ranks' products were averaged. They are the terms of one sum: nothing is divided.",
        ),
        Hint(
            "partial sums",
            lambda look: (
                look.size > 1
                and not any(map(look.same, look.wanted, look.returned))
                and all(getattr(got, "dtype", None) == want.dtype for want, got in look.pairs())
            ),
            "No rank has the output of the full layer. Each rank's product is one term of a sum: "
            "the terms of all ranks have to be added up, on every rank, and the columns of "
            "`weight` have to be those that belong to this rank's slice of x.",
        ),
        tensor_parallel.NO_GRADIENT,
        tensor_parallel.RETURNED_GRADIENT,
        Hint(
            "gradient size times",
            lambda look: not look.differs("returned") and tensor_parallel.times_size(look),
            "The output is right, a gradient is `size` times too large or too small. The gradient "
            "of the output is already the same on every rank: in the backward pass, what goes "
            "into the sum gets it as it is, and nothing is added up or divided. (The all_reduce "
            "of torch.distributed.nn adds up once more in its backward.)",
        ),
    ),
)
