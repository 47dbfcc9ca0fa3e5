"""`broadcast_from`: one rank's tensor for all."""

from __future__ import annotations

from distlab.exercises.compare import KEEPS_FLOAT64
from distlab.exercises.exercise import Case, Exercise, Hint
from distlab.exercises.hints import brought, everywhere, own_tensor
from distlab.exercises.inputs import tensor_and

exercise = Exercise(
    points=1,
    make=tensor_and("src"),
    asks="In broadcast_from, every rank returns the tensor of rank src.",
    tolerance=KEEPS_FLOAT64,
    visible=(Case(2, 1, {"src": 0}), Case(4, 2, {"src": 2})),
    traffic=(),
    hints=(
        Hint(
            "always from rank 0",
            lambda look: everywhere(look, brought(look)[0]),
            "Every rank has rank 0's tensor: the argument `src` says whose it should be.",
        ),
        own_tensor(
            "Each rank still has its own tensor. A broadcast is called by every rank, and "
            "writes into the tensor that it is given."
        ),
        Hint(
            "all returned",
            lambda look: any(isinstance(got, list) for got in look.returned),
            "One tensor is asked for, that of rank src, not the list of everybody's.",
        ),
    ),
)
