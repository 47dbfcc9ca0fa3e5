"""`exchange`: two ranks swap their tensors."""

from __future__ import annotations

import numpy as np

from distlab.exercises import hints, traffic
from distlab.exercises.compare import KEEPS_FLOAT64
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.hints import brought, everywhere, own_tensor, told_apart
from distlab.exercises.inputs import tensor_per_rank


def _with_input(function, rank, size, inputs):
    """Also hand back the input as it is afterwards, for exercises that must leave it unchanged."""
    result = function(rank, size, *inputs.values())
    return {"returned": result, "input": inputs["tensor"]}


def _neighbours(look: Look, step: int) -> list[np.ndarray]:
    own = brought(look)
    return [own[(rank + step) % look.size] for rank in look.ranks]


exercise = Exercise(
    points=3,
    make=tensor_per_rank,
    call=_with_input,
    asks="In exchange, ranks 0 and 1, 2 and 3, … swap their tensors, each returns its partner's, "
    "and the input stays as it was.",
    tolerance=KEEPS_FLOAT64,
    visible=(Case(2, 1), Case(4, 2, {"shape": [2, 3]})),
    traffic=(
        traffic.no_collectives,
        traffic.messages(lambda case: [(r, r ^ 1) for r in range(case.size)]),
        traffic.all_waited,
    ),
    hints=(
        Hint(
            "input overwritten",
            lambda look: any(
                not look.same(look.inputs[r]["tensor"], look.got[r]["input"]) for r in look.ranks
            ),
            "Receive into a tensor of its own (torch.empty_like), not into the one that you send.",
        ),
        hints.EARLY,
        own_tensor("Each rank returned its own tensor, not its partner's."),
        Hint(
            "neighbour for partner",
            lambda look: look.size > 2 and (
                everywhere(look, _neighbours(look, 1)) or everywhere(look, _neighbours(look, -1))
            ),
            "Tensors went round in a ring. Partners name each other: work out by hand whom your "
            "formula gives to rank 1, and whom to rank 2.",
        ),
        Hint(
            "mirror for partner",
            lambda look: look.size > 2 and everywhere(look, brought(look)[::-1]),
            "Rank 0 swapped with the last rank, 1 with the last but one, and so on. Partners are 0 "
            "and 1, 2 and 3: try your formula for rank 2.",
        ),
        Hint(
            "half a swap",
            lambda look: told_apart(look) and look.events("send") != [] and all(
                event.rank % 2 == look.events("send")[0].rank % 2 for event in look.events("send")
            ),
            "Only one rank of each pair sent anything: a swap is one message each way.",
        ),
    ),
)  # fmt: skip
