"""Lab 01: what its exercises ask."""

from __future__ import annotations

import numpy as np

from distlab import traffic
from distlab.exercises import Case, Exercise, Hint, Look

LAB = "01-message-passing"


def _tensor_of_each_rank(case: Case) -> list[dict]:
    shape, dtype = case.get("shape", [4]), case.get("dtype", "float32")
    return [{"tensor": case.draw(rank, shape, dtype)} for rank in range(case.size)]


def _with_input(function, rank, size, inputs):
    """Also hand back the input as it is afterwards, for exercises that must leave it unchanged."""
    result = function(rank, size, *inputs.values())
    return {"returned": result, "input": inputs["tensor"]}


def _own_tensor(look: Look) -> bool:
    return all(
        look.same(look.inputs[r]["tensor"], look.got[r]["returned"]) for r in look.ranks
    )


exchange = Exercise(
    "exchange", LAB, 3,
    make=_tensor_of_each_rank,
    call=_with_input,
    asks="In exchange, ranks 0 and 1, 2 and 3, … swap their tensors, each returns its partner's, "
    "and the input stays as it was.",
    visible=(Case(2, 1), Case(4, 2, {"shape": [2, 3]})),
    rules=(
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
        Hint(
            "read before wait",
            lambda look: any(np.isnan(look.got[r]["returned"]).any() for r in look.ranks),
            "The buffer was read before its request had been waited for: until wait() returns, its "
            "content is undefined.",
        ),
        Hint("own tensor", _own_tensor, "Each rank returned its own tensor, not its partner's."),
    ),
)  # fmt: skip

EXERCISES = [exchange]
