"""`group_mean`: a mean over some of the ranks."""

from __future__ import annotations

import numpy as np

from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.hints import brought
from distlab.exercises.inputs import tensor_and


def _group_call(function, rank, size, inputs):
    """`members` as a list of its own, which a function may sort or empty as it likes."""
    return function(rank, size, inputs["tensor"], list(inputs["members"]))


def _one_new_group_each(look: Look) -> str | None:
    """Every rank calls `new_group` exactly once, and all name the same members."""
    calls = [[e for e in record.events if e.op == "new_group"] for record in look.records]
    for rank, made in enumerate(calls):
        if not made:
            return (
                f"rank {rank} never called new_group: every rank of the world has to call it once, "
                "also a rank that will not be a member."
            )
        if len(made) > 1:
            return f"rank {rank} called new_group {len(made)} times: every rank calls it once."
    first = calls[0][0]
    for rank, (call,) in enumerate(calls):
        if set(call.group) != set(first.group):
            return (
                f"rank {rank} made a group of the ranks {sorted(call.group)} where rank 0 made one "
                f"of {sorted(first.group)}: all ranks have to name the same members."
            )
    return None


def _another_group(look: Look) -> bool:
    """Did every rank make its first group of the same ranks, which are not the members?"""
    made = [next((e for e in r.events if e.op == "new_group"), None) for r in look.records]
    groups = {frozenset(event.group) for event in made if event}
    return None not in made and len(groups) == 1 and set(_members(look)) not in groups


def _members(look: Look) -> list[int]:
    return list(look.case.params["members"])


def _on_members(look: Look, value: np.ndarray) -> bool:
    """Did the members return this, and is it not the mean over them?"""
    members, got, want = _members(look), look.returned, look.wanted
    return all(look.same(value, got[m]) for m in members) and not look.same(value, want[members[0]])


def _members_total(look: Look) -> np.ndarray:
    return np.sum([brought(look)[m] for m in _members(look)], axis=0)


exercise = Exercise(
    points=3,
    make=tensor_and("members"),
    call=_group_call,
    asks="In group_mean, every rank calls dist.new_group once; the members return the mean over "
    "the members, every other rank its own tensor as it was.",
    visible=(
        Case(2, 1, {"members": [0, 1]}),
        Case(4, 2, {"members": [2]}),
        Case(4, 3, {"members": [3, 1]}),
    ),
    traffic=(_one_new_group_each,),
    hints=(
        Hint(
            "sum for mean",
            lambda look: _on_members(look, _members_total(look)),
            "The members have the sum: what is it to be divided by?",
        ),
        Hint(
            "divided by the world",
            lambda look: _on_members(look, _members_total(look) / look.size),
            "The sum over the members was divided by `size`, which is the number of ranks in the "
            "world: how many took part?",
        ),
        Hint(
            "mean over the world",
            lambda look: _on_members(look, np.mean(brought(look), axis=0)),
            "This is the mean over all ranks: the collective ran in the default group. Pass it the "
            "group that new_group returned.",
        ),
        Hint(
            "sum over the world",
            lambda look: _on_members(look, np.sum(brought(look), axis=0) / len(_members(look))),
            "All ranks went into the sum: the collective ran in the default group. Pass it the "
            "group that new_group returned.",
        ),
        Hint(
            "another group",
            _another_group,
            "new_group was called with other ranks than those in `members`: that list says who "
            "takes part.",
        ),
        Hint(
            "others changed",
            lambda look: any(
                isinstance(look.returned[rank], np.ndarray)
                and not look.same(brought(look)[rank], look.returned[rank])
                for rank in look.ranks
                if rank not in _members(look)
            ),
            "A rank outside the group returned something else than its own tensor: what you do "
            "with the result is only for members.",
        ),
        Hint(
            "nothing from the others",
            lambda look: any(
                look.returned[rank] is None for rank in look.ranks if rank not in _members(look)
            ),
            "A rank outside the group returned None: it is to return its own tensor.",
        ),
        Hint(
            "members alone",
            lambda look: any(
                not any(event.op == "new_group" for event in record.events)
                for record in look.records
            ),
            "Does new_group stand inside an `if`, or below an early return? All ranks of the world "
            "agree on a group; only what is done in it is for members.",
        ),
        Hint(
            "members left alone",
            lambda look: (
                any(look.same(brought(look)[m], look.returned[m]) for m in _members(look))
                and len(_members(look)) > 1
            ),
            "A member still has its own tensor. `members` holds ranks of the world, in any order: "
            "is this rank among them?",
        ),
        Hint(
            "on one member only",
            lambda look: (
                0
                < sum(look.same(look.wanted[m], look.returned[m]) for m in _members(look))
                < len(_members(look))
            ),
            "Some members have the mean and others do not: every member is to have it. (reduce "
            "gives its result to one rank alone.)",
        ),
    ),
)
