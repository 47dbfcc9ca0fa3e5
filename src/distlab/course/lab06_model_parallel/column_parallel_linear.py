"""`column_parallel_linear`: a linear layer whose outputs are divided."""

from __future__ import annotations

import numpy as np

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
from distlab.exercises.compare import KEEPS_FLOAT64
from distlab.exercises.exercise import Case, Exercise, Hint, Look


def _whole_columns(look: Look) -> np.ndarray:
    """The output of the full layer."""
    given = look.inputs[0]
    return given["x"] @ given["weight"].T + given["bias"]


def _slice_elsewhere(look: Look) -> bool:
    """Every rank has a slice that is another rank's, or the same as another rank."""
    want, got = output(look)
    return not right(output, look) and all(any(look.same(w, g) for w in want) for g in got)


exercise = Exercise(
    points=4,
    make=layer("out"),
    share=own_part,
    call=call_linear,
    tolerance=KEEPS_FLOAT64,
    asks="In column_parallel_linear, each rank computes its own slice of the outputs with its "
    "slice of weight and bias alone, and after backward() x has the gradient of the full layer.",
    visible=(
        Case(2, 1, {"in": 3, "out": 4, "rows": [5]}),
        Case(3, 2, {"in": 4, "out": 6, "rows": [2, 3]}),
    ),
    hints=(
        hints.NOTHING,
        WORK,
        Hint(
            "full output returned",
            lambda look: (
                look.size > 1
                and any(look.same(_whole_columns(look), got) for got in output(look)[1])
            ),
            "This is the output of the full layer. Here each rank keeps its own slice of it: the "
            "next layer will want just that.",
        ),
        Hint(
            "no bias",
            lambda look: any(
                look.same(w - np.split(look.inputs[0]["bias"], look.size)[r], g)
                for r, (w, g) in enumerate(zip(*output(look), strict=True))
            ),
            "The bias is missing: each output has one, so each rank adds its slice of it.",
        ),
        Hint(
            "another slice",
            _slice_elsewhere,
            "A rank has the slice of another one: rank r computes the r-th run of neighbouring "
            "outputs, counted from 0.",
        ),
        NO_GRADIENT,
        RETURNED_GRADIENT,
        Hint(
            "inputs divided",
            lambda look: any(
                np.shape(got)[:-1] == want.shape[:-1] and np.shape(got) != want.shape
                for want, got in zip(*output(look), strict=True)
            ),
            "A rank returned another number of outputs than its slice has. It is the outputs that "
            "are divided, and with them the bias and the rows of `weight`, whose shape is "
            "(outputs, inputs): all inputs go in.",
        ),
        Hint(
            "gradient of x not added up",
            lambda look: look.size > 1 and right(output, look) and _own_part_of_x(look),
            "Each rank's x has only the part of the gradient that came through its own slice. "
            "Every rank used the same x, so its gradient is the sum over the ranks: something has "
            "to happen in the backward pass.",
        ),
        Hint(
            "gradients of slices added up",
            lambda look: any(
                not look.same(w, g) and look.same(sum(part(look)[0]), g)
                for part in (of_weight, of_bias)
                for w, g in zip(*part(look), strict=True)
            ),
            "The gradients of all ranks' slices of `weight` or of the bias were added up. Only x "
            "is used by every rank; a slice is used by one, which has all of its gradient.",
        ),
        Hint(
            "gradient size times",
            lambda look: any(times_size(part)(look) for part in (of_x, of_weight, of_bias)),
            "A gradient is `size` times too large or too small: each rank holds a part of the sum, "
            "so the parts are added up once, and nothing is divided. Only x needs it: "
            "weight and bias are each rank's own.",
        ),
    ),
)


def _own_part_of_x(look: Look) -> bool:
    given = look.inputs[0]
    parts = zip(
        np.split(given["gradient"], look.size, -1),
        np.split(given["weight"], look.size),
        of_x(look)[1],
        strict=True,
    )
    return all(look.same(gradient @ weight, got) for gradient, weight, got in parts)
