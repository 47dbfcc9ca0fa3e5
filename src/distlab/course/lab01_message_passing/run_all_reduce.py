"""`run_all_reduce`: a sum over a group of all ranks."""

from __future__ import annotations

import numpy as np

from distlab.exercises.compare import KEEPS_FLOAT64
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.hints import (
    MEAN_FOR_SUM,
    brought,
    everywhere,
    own_tensor,
    total,
)
from distlab.exercises.inputs import tensor_per_rank


def _whole_group_used(look: Look) -> str | None:
    """A group of all ranks is made by `new_group` on every rank, and what there is to sum travels
    in it: a barrier there carries nothing of a sum that is taken elsewhere.
    """
    everybody, travels = set(look.ranks), look.size > 1 and brought(look)[0].size > 0
    for record in look.records:
        calls = [e for e in record.events if e.op == "new_group"]
        if not calls:
            return (
                f"rank {record.rank} never called dist.new_group: every rank has to, and the sum "
                "is taken in the group that it returns."
            )
        whole = {e.group_index for e in calls if set(e.group) == everybody}
        if not whole:
            return (
                f"rank {record.rank} made a group of the ranks {sorted(calls[0].group)} at "
                f"{calls[0].place}, and the group should hold all ranks of the world."
            )
        used = {e.op for e in record.events if e.group_index in whole} - {"new_group"}
        if travels and not used - {"barrier"}:
            did = "only waited in a barrier of it" if used else "did nothing in it"
            return (
                f"rank {record.rank} made its group at {calls[0].place} and then {did}: "
                "a collective runs in the default group unless it is given another one."
            )
    return None


exercise = Exercise(
    points=2,
    make=tensor_per_rank,
    asks="In run_all_reduce, every rank makes a group of all ranks with dist.new_group and returns "
    "the sum of all tensors over that group.",
    tolerance=KEEPS_FLOAT64,
    visible=(Case(2, 1), Case(4, 2, {"shape": [2, 2]})),
    traffic=(_whole_group_used,),
    hints=(
        Hint(
            "group of some ranks",
            lambda look: all(
                (groups := [e.group for e in record.events if e.op == "new_group"])
                and all(set(group) != set(look.ranks) for group in groups)
                for record in look.records
            ),
            "The group does not hold all ranks of the world, and a collective reaches its group "
            "alone: new_group takes the list of the ranks that are to be in it.",
        ),
        MEAN_FOR_SUM,
        Hint(
            "another operation",
            lambda look: any(
                everywhere(look, operation(brought(look), axis=0))
                for operation in (np.max, np.min, np.prod)
            ),
            "The tensors were combined by another operation than the sum: look at `op`.",
        ),
        Hint(
            "on one rank only",
            lambda look: 0 < sum(look.same(*pair) for pair in look.pairs()) < look.size,
            "Some ranks have the sum and others do not: every rank is to have it.",
        ),
        Hint(
            "summed again",
            lambda look: everywhere(look, total(look) * look.size),
            "This is the sum `size` times over: it was summed twice.",
        ),
        own_tensor(
            "Each rank still has its own tensor. An all-reduce writes into the tensor that "
            "it is given: return that one, after it has ended."
        ),
    ),
)
