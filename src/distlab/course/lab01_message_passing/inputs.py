"""Inputs of lab 01's exercises, and how its functions are called."""

from __future__ import annotations

import numpy as np

from distlab.exercises.exercise import BROUGHT, Case

LAB = "01-message-passing"


# inputs


def stamp_on_rank_0(case: Case) -> list[dict]:
    """A number that goes along with what rank 0 sends: of it the other rank hears by a message."""
    number = int(case.generator().integers(1, 1 << 20))
    return [{"stamp": number if rank == 0 else None} for rank in range(case.size)]


def _drawn(case: Case, rank: int, shape: list[int]) -> np.ndarray:
    """A rank's own tensor; `shift` moves all its elements, below zero, say."""
    drawn = case.draw(rank, shape, case.get("dtype", "float32"))
    return np.asarray(drawn + case.get("shift", 0), drawn.dtype)


def tensor_of_each_rank(case: Case) -> list[dict]:
    shape = case.get("shape", [4])
    return [{"tensor": _drawn(case, rank, shape)} for rank in range(case.size)]


def tensor_and(*names: str):
    """A tensor of each rank's own, and these parameters of the case for all."""

    def make(case: Case) -> list[dict]:
        told = {name: case.params[name] for name in names}
        return [{**own, **told} for own in tensor_of_each_rank(case)]

    return make


def row_of_each_rank(case: Case) -> list[dict]:
    return [{"row": _drawn(case, rank, [case.get("width", 3)])} for rank in range(case.size)]


def row_and_dst(case: Case) -> list[dict]:
    return [{**own, "dst": case.params["dst"]} for own in row_of_each_rank(case)]


def matrix_on_src(case: Case) -> list[dict]:
    src, width = case.params["src"], case.get("width", 3)
    matrix = case.draw(src, (case.size, width))
    return [
        {"matrix": matrix if rank == src else None, "src": src, "width": width}
        for rank in range(case.size)
    ]


def with_stamp(function, rank, size, inputs):
    """Call it while messages carry a stamp; hand back the one that arrived, if any."""
    from distlab.rank import stamps

    with stamps.on_messages(inputs["stamp"]) as arrived:
        result = function(rank, size)
    return {"returned": result, BROUGHT: arrived[0] if arrived else None}


def with_input(function, rank, size, inputs):
    """Also hand back the input as it is afterwards, for exercises that must leave it unchanged."""
    result = function(rank, size, *inputs.values())
    return {"returned": result, "input": inputs["tensor"]}


def group_call(function, rank, size, inputs):
    """`members` as a list of its own, which a function may sort or empty as it likes."""
    return function(rank, size, inputs["tensor"], list(inputs["members"]))
