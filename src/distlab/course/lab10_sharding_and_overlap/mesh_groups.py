"""`mesh_groups`: the ranks that share a group with a rank, along each dimension of a mesh."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from distlab.exercises import hints
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.traffic import silent

_FEW = 64  # ranks; in a larger mesh the groups of some ranks only are asked for


def _mesh(case: Case) -> list[dict]:
    shape, names = case.params["shape"], case.params["names"]
    count = math.prod(shape)
    ranks = case.get(
        "ranks", list(range(count)) if count <= _FEW else [0, 1, count // 3, count - 1]
    )
    return [{"shape": tuple(shape), "names": tuple(names), "ranks": ranks}]


def _call(function, rank, size, inputs):
    return [function(inputs["shape"], inputs["names"], asked) for asked in inputs["ranks"]]


def _like(of, order: Literal["C", "F"] = "C"):
    """A hint's `shows`: did it return the ranks that `of(grid, place, dimension)` gives, and is
    that wrong? The ranks are numbered in this order.
    """

    def shows(look: Look) -> bool:
        given = look.inputs[0]
        grid = np.arange(math.prod(given["shape"])).reshape(given["shape"], order=order)
        groups = [
            {
                name: sorted(of(grid, np.argwhere(grid == asked)[0], at).ravel().tolist())
                for at, name in enumerate(given["names"])
            }
            for asked in given["ranks"]
        ]
        return look.same(groups, _sorted(look.returned[0])) and not look.same(
            groups, look.wanted[0]
        )

    return shows


def _line(grid: np.ndarray, place: np.ndarray, at: int) -> np.ndarray:
    """The ranks that differ from this place in this coordinate alone."""
    return np.moveaxis(grid, at, -1)[tuple(np.delete(place, at))]


def _plane(grid: np.ndarray, place: np.ndarray, at: int) -> np.ndarray:
    """The ranks that have this coordinate in common."""
    return grid.take(place[at], axis=at)


def _sorted(groups):
    return [{name: sorted(ranks) for name, ranks in one.items()} for one in groups]


def _swapped(look: Look) -> bool:
    """Are they right under the names in reverse order?"""
    names = look.inputs[0]["names"]
    turned = [
        {name: one[other] for name, other in zip(names, reversed(names), strict=True)}
        for one in look.wanted[0]
    ]
    return look.same(turned, look.returned[0])


def _without(look: Look) -> bool:
    pairs = zip(look.wanted[0], look.returned[0], look.inputs[0]["ranks"], strict=True)
    return all(
        sorted(got[name]) == [r for r in ranks if r != own]
        for want, got, own in pairs
        for name, ranks in want.items()
    )


def _names(look: Look) -> bool:
    return any(
        isinstance(got, dict) and set(got) != set(look.inputs[0]["names"])
        for got in look.returned[0]
    )


def _plain(look: Look) -> bool:
    """Are all of them lists of plain ints?"""
    return all(
        isinstance(ranks, list) and all(type(r) is int for r in ranks)
        for got in look.returned[0]
        for ranks in got.values()
    )


def _tuple_for_list(look: Look) -> str | None:
    """A tuple equals a list for the comparison of values, and here a list is asked for."""
    for asked, got in zip(look.inputs[0]["ranks"], look.returned[0], strict=True):
        for name, ranks in got.items():
            if isinstance(ranks, tuple):
                return f"the ranks of {name!r} are a tuple for rank {asked}, and not a list."
    return None


exercise = Exercise(
    points=2,
    make=_mesh,
    call=_call,
    asks="mesh_groups returns for each dimension's name the sorted list of ranks that differ from "
    "this rank in that coordinate alone, this rank among them.",
    visible=(
        Case(1, 1, {"shape": [2, 3], "names": ["replica", "shard"]}),
        Case(1, 2, {"shape": [2, 2, 3], "names": ["pipeline", "data", "tensor"]}),
    ),
    rules=(silent("mesh_groups"), _tuple_for_list),
    hints=(
        Hint(
            "nothing returned",
            lambda look: all(got is None for got in look.returned[0]),
            hints.NOTHING.says,
        ),
        Hint(
            "no dict",
            lambda look: any(not isinstance(got, dict) for got in look.returned[0]),
            "Return a dict: each dimension's name, and the list of its ranks.",
        ),
        Hint(
            "other names",
            _names,
            "The keys are the names that it was given, all of them, also "
            "that of a dimension of length 1.",
        ),
        Hint(
            "no plain ints",
            lambda look: not _plain(look),
            "Each value is a list of plain ints: .tolist() makes one of a tensor or an array, and "
            "list(…) one of a tuple.",
        ),
        Hint(
            "not sorted",
            lambda look: look.same(look.wanted[0], _sorted(look.returned[0])),
            "The ranks are right, and not in order: sort them.",
        ),
        Hint(
            "itself left out",
            _without,
            "This rank is missing: it belongs to its own groups.",
        ),
        Hint(
            "dimensions swapped",
            _swapped,
            "The groups are right, under the wrong names. shape[0] belongs to names[0], and ranks "
            "that are neighbours differ in the last coordinate. (A dimension's group is the line "
            "along it, in which its coordinate changes.)",
        ),
        Hint(
            "one dimension",
            lambda look: len(look.inputs[0]["shape"]) == 1,
            "A mesh may have a single dimension: all ranks lie along it, and are its group.",
        ),
        Hint(
            "the plane for the line",
            _like(_plane),
            "These are the ranks that have this coordinate in common. Asked for are those that "
            "have all the *others* in common.",
        ),
        Hint(
            "column-major",
            _like(_line, order="F"),
            "The ranks were counted the other way: in a row-major mesh the last coordinate changes "
            "from one rank to the next, as in torch.arange(n).reshape(shape).",
        ),
        Hint(
            "rank 0's groups",
            lambda look: (
                len({str(got) for got in look.returned[0]}) == 1
                and len(look.inputs[0]["ranks"]) > 1
            ),
            "Every rank got the same groups: they depend on where `rank` stands in the mesh.",
        ),
        Hint(
            "other ranks",
            lambda look: all(isinstance(got, dict) for got in look.returned[0]),
            "Other ranks belong to a group. How far apart are two ranks that differ by one in a "
            "coordinate? By the product of the lengths behind it. And where does the group of this "
            "rank begin?",
        ),
    ),
    group=False,
)
