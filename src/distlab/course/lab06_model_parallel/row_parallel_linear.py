"""`row_parallel_linear`: a linear layer whose inputs are divided."""

from __future__ import annotations

from distlab.course.lab06_model_parallel.tensor_parallel import (
    NO_GRADIENT,
    RETURNED_GRADIENT,
    WORK,
    call_linear,
    layer,
    of_bias,
    of_weight,
    of_x,
    output,
    own_part,
    right,
    times_size,
)
from distlab.exercises import hints
from distlab.exercises.exercise import Case, Exercise, Hint, Look


def _bias_times(look: Look) -> float | None:
    """How often the bias is in the output, if that is all that is wrong with it."""
    want, got = output(look)
    for times in (0, look.size):
        extra = look.inputs[0]["bias"] * (times - 1)
        if times != 1 and all(look.same(w + extra, g) for w, g in zip(want, got, strict=True)):
            return times
    return None


def _mean(look: Look) -> bool:
    """Is the sum over the ranks divided by their number, with the bias or without it?"""
    want, got = output(look)
    bias = look.inputs[0]["bias"]
    return look.size > 1 and any(
        all(look.same((w - own) / look.size + own, g) for w, g in zip(want, got, strict=True))
        for own in (bias, 0 * bias)
    )


exercise = Exercise(
    points=4,
    make=layer("in"),
    share=own_part,
    call=call_linear,
    asks="In row_parallel_linear, each rank multiplies its slice of the input with its slice of "
    "weight, and every rank returns the output of the full layer; gradients are those of the full "
    "layer.",
    visible=(
        Case(2, 1, {"in": 4, "out": 3, "rows": [5]}),
        Case(3, 2, {"in": 6, "out": 4, "rows": [2, 3]}),
    ),
    hints=(
        hints.NOTHING,
        WORK,
        Hint(
            "bias on every rank",
            lambda look: look.size > 1 and _bias_times(look) == look.size,
            "The bias is in the output `size` times: every rank added it before the sum.",
        ),
        Hint("no bias", lambda look: _bias_times(look) == 0, "The bias is missing."),
        Hint(
            "mean for sum",
            _mean,
            "The ranks' products were averaged. They are the terms of one sum: nothing is divided.",
        ),
        Hint(
            "partial sums",
            lambda look: (
                look.size > 1
                and not any(map(look.same, *output(look)))
                and all(
                    getattr(g, "dtype", None) == w.dtype for w, g in zip(*output(look), strict=True)
                )
            ),
            "No rank has the output of the full layer. Each rank's product is one term of a sum: "
            "the terms of all ranks have to be added up, on every rank, and the columns of "
            "`weight` have to be those that belong to this rank's slice of x.",
        ),
        NO_GRADIENT,
        RETURNED_GRADIENT,
        Hint(
            "gradient size times",
            lambda look: (
                right(output, look)
                and any(times_size(part)(look) for part in (of_x, of_weight, of_bias))
            ),
            "The output is right, a gradient is `size` times too large or too small. The gradient "
            "of the output is already the same on every rank: in the backward pass, what goes "
            "into the sum gets it as it is, and nothing is added up or divided. (The all_reduce "
            "of torch.distributed.nn adds up once more in its backward.)",
        ),
    ),
)
