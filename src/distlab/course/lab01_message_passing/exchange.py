"""`exchange`: two ranks swap their tensors."""

from __future__ import annotations

from distlab.exercises import hints, traffic
from distlab.exercises.compare import KEEPS_FLOAT64
from distlab.exercises.exercise import Case, Exercise, Hint, Look, positional
from distlab.exercises.hints import brought, everywhere, own_tensor, told_apart
from distlab.exercises.inputs import tensor_per_rank


def _with_input(function, rank, size, inputs):
    """Also hand back the input as it is afterwards, for exercises that must leave it unchanged."""
    return {"returned": positional(function, rank, size, inputs), "input": inputs["tensor"]}


def _in_a_ring(look: Look) -> bool:
    """Does each rank have the tensor of a neighbour, all in the same direction?"""
    own = brought(look)
    return everywhere(look, own[1:] + own[:1]) or everywhere(look, own[-1:] + own[:-1])


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
            lambda look: look.differs("input"),
            "Receive into a tensor of its own (torch.empty_like), not into the one that you send.",
        ),
        hints.EARLY,
        own_tensor("Each rank returned its own tensor, not its partner's."),
        Hint(
            "neighbour for partner",
            _in_a_ring,
            "Tensors went round in a ring. Partners name each other: work out by hand whom your "
            "formula gives to rank 1, and whom to rank 2.",
        ),
        Hint(
            "mirror for partner",
            lambda look: everywhere(look, brought(look)[::-1]),
            "Rank 0 swapped with the last rank, 1 with the last but one, and so on. Partners are 0 "
            "and 1, 2 and 3: try your formula for rank 2.",
        ),
        Hint(
            "half a swap",
            lambda look: (
                told_apart(look) and len({event.rank % 2 for event in look.events("send")}) == 1
            ),
            "Only one rank of each pair sent anything: a swap is one message each way.",
        ),
    ),
)
