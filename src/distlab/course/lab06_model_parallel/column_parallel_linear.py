"""`column_parallel_linear`: a linear layer whose outputs are divided."""

from __future__ import annotations

import numpy as np

from distlab.course.lab06_model_parallel import tensor_parallel
from distlab.exercises import hints
from distlab.exercises.compare import KEEPS_FLOAT64
from distlab.exercises.exercise import Case, Exercise, Hint, Look


def _whole_columns(look: Look) -> np.ndarray:
    """The output of the full layer."""
    given = look.inputs[0]
    return given["x"] @ given["weight"].T + given["bias"]


def _slice_elsewhere(look: Look) -> bool:
    """Every rank has a slice that is another rank's, or the same as another rank."""
    return look.differs("returned") and all(
        any(look.same(want, got) for want in look.wanted) for got in look.returned
    )


def _own_part_of_x(look: Look) -> bool:
    given = look.inputs[0]
    gradients = np.split(given["gradient"], look.size, -1)
    weights = np.split(given["weight"], look.size)
    parts = [gradient @ weight for gradient, weight in zip(gradients, weights, strict=True)]
    return all(map(look.same, parts, look.left(tensor_parallel.OF_X)))


exercise = Exercise(
    points=4,
    make=tensor_parallel.layer("out"),
    share=tensor_parallel.own_part,
    call=tensor_parallel.call_linear,
    tolerance=KEEPS_FLOAT64,
    asks="In column_parallel_linear, each rank computes its own slice of the outputs with its "
    "slice of weight and bias alone, and after backward() x has the gradient of the full layer.",
    visible=(
        Case(2, 1, {"in": 3, "out": 4, "rows": [5]}),
        Case(3, 2, {"in": 4, "out": 6, "rows": [2, 3]}),
    ),
    hints=(
        hints.NOTHING,
        tensor_parallel.WORK,
        Hint(
            "full output returned",
            lambda look: (
                look.size > 1 and any(look.same(_whole_columns(look), got) for got in look.returned)
            ),
            "This is the output of the full layer. Here each rank keeps its own slice of it: the "
            "next layer will want just that.",
        ),
        Hint(
            "no bias",
            lambda look: any(
                look.same(want - np.split(look.inputs[0]["bias"], look.size)[rank], got)
                for rank, (want, got) in enumerate(look.pairs())
            ),
            "The bias is missing: each output has one, so each rank adds its slice of it.",
        ),
        Hint(
            "another slice",
            _slice_elsewhere,
            "A rank has the slice of another one: rank r computes the r-th run of neighbouring "
            "outputs, counted from 0.",
        ),
        tensor_parallel.NO_GRADIENT,
        tensor_parallel.RETURNED_GRADIENT,
        Hint(
            "inputs divided",
            lambda look: any(
                np.shape(got)[:-1] == want.shape[:-1] and np.shape(got) != want.shape
                for want, got in look.pairs()
            ),
            "A rank returned another number of outputs than its slice has. It is the outputs that "
            "are divided, and with them the bias and the rows of `weight`, whose shape is "
            "(outputs, inputs): all inputs go in.",
        ),
        Hint(
            "gradient of x not added up",
            lambda look: look.size > 1 and not look.differs("returned") and _own_part_of_x(look),
            "Each rank's x has only the part of the gradient that came through its own slice. "
            "Every rank used the same x, so its gradient is the sum over the ranks: something has "
            "to happen in the backward pass.",
        ),
        Hint(
            "gradients of slices added up",
            lambda look: any(
                not look.same(want, got) and look.same(sum(look.asked(name)), got)
                for name in (tensor_parallel.OF_WEIGHT, tensor_parallel.OF_BIAS)
                for want, got in look.pairs(name)
            ),
            "The gradients of all ranks' slices of `weight` or of the bias were added up. Only x "
            "is used by every rank; a slice is used by one, which has all of its gradient.",
        ),
        Hint(
            "gradient size times",
            tensor_parallel.times_size,
            "A gradient is `size` times too large or too small: each rank holds a part of the sum, "
            "so the parts are added up once, and nothing is divided. Only x needs it: "
            "weight and bias are each rank's own.",
        ),
    ),
)
