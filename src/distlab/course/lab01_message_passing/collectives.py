"""Lab 01: collectives, built of messages and called."""

from __future__ import annotations

import numpy as np

from distlab.course.lab01_message_passing.inputs import (
    LAB,
    matrix_on_src,
    row_and_dst,
    row_of_each_rank,
    tensor_and,
)
from distlab.exercises import hints, traffic
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.hints import (
    brought,
    everywhere,
    own_tensor,
    returned,
    told_apart,
    total,
    wanted,
)

# collectives

broadcast_from = Exercise(
    "broadcast_from", LAB, 1,
    make=tensor_and("src"),
    asks="In broadcast_from, every rank returns the tensor of rank src.",
    visible=(Case(2, 1, {"src": 0}), Case(4, 2, {"src": 2})),
    rules=(traffic.nothing_left_open,),
    hints=(
        Hint(
            "always from rank 0",
            lambda look: (
                look.case.get("src") != 0
                and told_apart(look)
                and everywhere(look, [brought(look)[0]] * look.size)
            ),
            "Every rank has rank 0's tensor: the argument `src` says whose it should be.",
        ),
        own_tensor("Each rank still has its own tensor. A broadcast is called by every rank, and "
                    "writes into the tensor that it is given."),
        Hint(
            "all returned",
            lambda look: any(isinstance(got, list) for got in returned(look)),
            "One tensor is asked for, that of rank src, not the list of everybody's.",
        ),
        *hints.MESSAGES,
    ),
)  # fmt: skip


scatter_rows = Exercise(
    "scatter_rows", LAB, 2,
    make=matrix_on_src,
    asks="In scatter_rows, rank r returns row r of the matrix that rank src has, a tensor of shape "
    "(width,).",
    visible=(Case(2, 1, {"src": 0}), Case(4, 2, {"src": 3, "width": 2})),
    rules=(traffic.nothing_left_open,),
    hints=(
        Hint(
            "two dimensions",
            lambda look: any(
                isinstance(got, np.ndarray) and got.shape == (1, look.case.get("width", 3))
                for got in returned(look)
            ),
            "A row has one dimension: matrix[i] has shape (width,), while matrix[i:i + 1], split "
            "and chunk keep two.",
        ),
        Hint(
            "whole matrix",
            lambda look: any(
                isinstance(got, np.ndarray) and got.ndim == 2 and got.shape[0] == look.size
                for got in returned(look)
            ),
            "The whole matrix arrived where one row is asked for.",
        ),
        Hint(
            "nothing arrived",
            lambda look: any(
                isinstance(got, np.ndarray) and got.size and not got.any()
                for got in returned(look)
            ),
            "A rank returned the zeros that its buffer began with: nothing was received into it.",
        ),
        Hint(
            "same row everywhere",
            lambda look: look.size > 1 and look.case.get("width", 3) > 0 and any(
                everywhere(look, [row] * look.size) for row in wanted(look)
            ),
            "Every rank has the same row: rank r takes row r, so the sender has to name another "
            "row for each rank.",
        ),
        Hint(
            "another rank's row",
            lambda look: sorted(map(_key, returned(look))) == sorted(map(_key, wanted(look))),
            "Every row arrived somewhere, but not on its own rank: row r belongs to rank r, also "
            "on src itself, and whatever src is.",
        ),
        *hints.MESSAGES,
    ),
)  # fmt: skip


def _key(value: np.ndarray) -> list[float]:
    return value.tolist()


def _matrices(look: Look) -> list[np.ndarray]:
    return [got for got in returned(look) if isinstance(got, np.ndarray) and got.ndim == 2]


_ROWS = (
    Hint(
        "nothing arrived",
        lambda look: any(got.size and not got.any() for got in _matrices(look)),
        "The matrix holds the zeros that its buffers began with: nothing had arrived in them yet. "
        "With async_op=True, wait for the request first.",
    ),
    Hint(
        "list of rows",
        lambda look: any(isinstance(got, (list, tuple)) for got in returned(look)),
        "A list of rows is no matrix yet: torch.stack makes one of shape (size, width) of them.",
    ),
    Hint(
        "rows end to end",
        lambda look: any(
            isinstance(got, np.ndarray) and got.shape == (look.size * look.case.get("width", 3),)
            for got in returned(look)
        )
        and look.size > 1,
        "The rows stand end to end in one dimension: torch.cat joins along a dimension that is "
        "there, torch.stack makes a new one. (reshape helps too.)",
    ),
    Hint(
        "columns for rows",
        lambda look: any(
            any(look.same(want.T, got) for want in wanted(look) if want is not None)
            for got in _matrices(look)
        ),
        "The ranks' rows became columns: rank r's row is row r of the result, dimension 0.",
    ),
    Hint(
        "one buffer size times",
        lambda look: look.size > 1 and any(
            want is not None and look.same(np.stack([want[-1]] * look.size), got)
            for want, got in zip(wanted(look), returned(look), strict=True)
        ),
        "All rows are the same one: `[tensor] * size` holds one tensor `size` times, and each "
        "row that arrives overwrites the one before. Make a new tensor for each row.",
    ),
    Hint(
        "own row missing",
        lambda look: any(
            want is not None
            and isinstance(got, np.ndarray)
            and got.ndim == 2
            and got.shape == (look.size - 1, look.case.get("width", 3))
            for want, got in zip(wanted(look), returned(look), strict=True)
        ),
        "One row is missing: a rank's own row belongs into the matrix as well.",
    ),
    Hint(
        "rows in another order",
        lambda look: any(
            want is not None
            and isinstance(got, np.ndarray)
            and sorted(got.tolist()) == sorted(want.tolist())
            and not look.same(want, got)
            for want, got in zip(wanted(look), returned(look), strict=True)
        ),
        "All rows are there, in another order: the row of rank r is row r, whoever came first.",
    ),
)  # fmt: skip


def _returned_everywhere(look: Look) -> bool:
    """Did a rank return something where None is asked for?"""
    return any(
        want is None and got is not None
        for want, got in zip(wanted(look), returned(look), strict=True)
    )


def _another_has_it(look: Look) -> bool:
    """Does another rank hold what dst should, and dst not?"""
    dst = look.case.params["dst"]
    want, got = wanted(look), returned(look)
    return got[dst] is None and any(
        look.same(want[dst], got[rank]) for rank in look.ranks if rank != dst
    )


def _dst_hints(elsewhere: str) -> tuple[Hint, ...]:
    return (
        Hint(
            "on another rank than dst",
            _another_has_it,
            "The result is on another rank than dst: `dst` is an argument, and not always 0.",
        ),
        Hint(
            "not None elsewhere",
            lambda look: _returned_everywhere(look) and look.same(
                wanted(look)[look.case.params["dst"]], returned(look)[look.case.params["dst"]]
            ),
            elsewhere,
        ),
    )  # fmt: skip


gather_rows = Exercise(
    "gather_rows", LAB, 2,
    make=row_and_dst,
    asks="In gather_rows, rank dst returns all rows as a tensor of shape (size, width), row r from "
    "rank r; the others return None.",
    visible=(Case(2, 1, {"dst": 0}), Case(4, 2, {"dst": 1, "width": 2})),
    rules=(traffic.nothing_left_open,),
    hints=(
        *_dst_hints("Only dst collects the rows: on every other rank the answer is None."),
        *_ROWS,
        Hint(
            "not None elsewhere",
            _returned_everywhere,
            "Only dst collects the rows: on every other rank the answer is None.",
        ),
        *hints.MESSAGES,
    ),
)  # fmt: skip


all_gather_rows = Exercise(
    "all_gather_rows", LAB, 2,
    make=row_of_each_rank,
    asks="In all_gather_rows, every rank returns all rows as a tensor of shape (size, width), row "
    "r from rank r.",
    visible=(Case(2, 1), Case(4, 2, {"width": 2})),
    rules=(traffic.nothing_left_open,),
    hints=(
        Hint(
            "on one rank only",
            lambda look: 0 < sum(got is None for got in returned(look)) < look.size,
            "Some ranks returned None: here every rank is to have all rows.",
        ),
        Hint(
            "own row only",
            lambda look: all(
                isinstance(got, np.ndarray)
                and (look.same(own, got) or look.same(np.stack([own] * look.size), got))
                for own, got in zip(brought(look), returned(look), strict=True)
            ) and look.size > 1,
            "Each rank has its own row alone: the others' have to arrive.",
        ),
        *_ROWS,
        *hints.MESSAGES,
    ),
)  # fmt: skip


def _on_dst(look: Look, value: np.ndarray) -> bool:
    dst = look.case.params["dst"]
    return look.same(value, returned(look)[dst]) and not look.same(wanted(look)[dst], value)


reduce_max_to = Exercise(
    "reduce_max_to", LAB, 2,
    make=tensor_and("dst"),
    asks="In reduce_max_to, rank dst returns the elementwise maximum of all ranks' tensors; the "
    "others return None.",
    visible=(Case(2, 1, {"dst": 0}), Case(4, 2, {"dst": 3, "shape": [2, 2], "shift": -5})),
    rules=(traffic.nothing_left_open,),
    hints=(
        *_dst_hints("On a rank other than dst, return None: after a reduce its tensor holds "
                    "nothing that you could use."),
        Hint(
            "sum for maximum",
            lambda look: _on_dst(look, total(look)),
            "This is the sum. A reduction adds unless it is told another operation: its argument "
            "is `op`.",
        ),
        Hint(
            "minimum for maximum",
            lambda look: _on_dst(look, np.min(brought(look), axis=0)),
            "This is the minimum: look at the name of the operation.",
        ),
        Hint(
            "maximum with zero",
            lambda look: _on_dst(
                look, np.maximum(np.max(brought(look), axis=0), 0 * brought(look)[0])
            ),
            "Where all ranks are negative there is a 0: a tensor of zeros took part in the "
            "maximum. Begin with a tensor of a rank.",
        ),
        Hint(
            "one number",
            lambda look: any(
                isinstance(got, (int, float)) or isinstance(got, np.ndarray) and got.ndim == 0
                for got in returned(look)
            ),
            "Elementwise: the result has the shape of one rank's tensor, not one number.",
        ),
        Hint(
            "own tensor on dst",
            lambda look: _on_dst(look, brought(look)[look.case.params["dst"]]),
            "dst returned its own tensor: the reduction writes into the tensor that it is given. "
            "Return that one.",
        ),
        Hint(
            "not None elsewhere",
            _returned_everywhere,
            "On a rank other than dst, return None: after a reduce its tensor holds nothing that "
            "you could use.",
        ),
        *hints.MESSAGES,
    ),
)  # fmt: skip
