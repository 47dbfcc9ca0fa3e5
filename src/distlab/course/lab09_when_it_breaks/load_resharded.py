"""Lab 09, `load_resharded`: a checkpoint read by another number of ranks than has written it."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np

from distlab.course.lab09_when_it_breaks import checkpoints
from distlab.course.lab09_when_it_breaks.checkpoints import rank_file
from distlab.course.lab09_when_it_breaks.file_watch import watched
from distlab.exercises.compare import Tolerance
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.hints import everywhere
from distlab.exercises.raised import Advice, Raised
from distlab.processes.payload import ODD_TENSOR, Foreign

STEP = 12
OWN, SHARED = "one of its own", "one that holds more than it"
AGAIN, OF_FIRST = "another tensor", "the first call's own tensor"
#: a later checkpoint in the same folder: by so many ranks that their names, as strings, stand in
#: another order than their numbers, and no two neighbours of whose files are equally long
LATER, BY_MANY = 30, [1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3]
OF_LATER = f"wrong elements of step {LATER}, which {len(BY_MANY)} ranks have saved"
#: what is asked for where there is nothing to load
NOTHING = ("no folder", "no step", "no index")
#: more files than the index tells of: an older save of the step, by more ranks, has left one
ONE_MORE = "a file too many"


def _inputs(case: Case) -> list[dict]:
    given = {
        "lengths": case.params["lengths"],
        "seed": case.number(2**31),
        "there": case.get("there", "whole"),
    }
    return [given] * case.size


def _call(function, rank: int, size: int, inputs: dict[str, Any]) -> dict[str, Any]:
    import torch

    lengths, there = inputs["lengths"], inputs["there"]
    with checkpoints.temporary_folder() as base:
        folder = base / "run 1"
        if there != "no folder":
            checkpoints.lay_down(folder, 3, [2, 2], seed=99)  # an older step, which nobody asks for
        if there not in ("no folder", "no step"):
            checkpoints.lay_down(folder, STEP, lengths, inputs["seed"], whole=there != "no index")
        if there == ONE_MORE:
            torch.save(torch.full((3,), 9.0), rank_file(folder, STEP, len(lengths)))
        if there in NOTHING:
            return _asked_in_vain(function, rank, size, str(folder))
        with watched(folder) as deeds:
            loaded = function(rank, size, str(folder), STEP)
            paths = {deed.path for deed in deeds}
        files = [path for path in paths if Path(path).parent.name == f"step-{STEP}"]
        opened = sorted({*map(checkpoints.rank_of, files)} - {None})
        return {
            "returned": loaded,
            "files opened in vain": _in_vain(opened, lengths, rank, size),
            **_storage(function, rank, size, folder, loaded),
        }


def _asked_in_vain(function, rank: int, size: int, folder: str) -> dict[str, str]:
    try:
        function(rank, size, folder, STEP)
    except NotImplementedError:
        raise
    except FileNotFoundError:
        return {"exception": "FileNotFoundError"}
    except Exception as error:
        return {"exception": type(error).__name__}
    return {"exception": "none"}


def _share(n: int, rank: int, size: int) -> tuple[int, int]:
    """Where a rank's elements begin and end."""
    return rank * n // size, (rank + 1) * n // size


def _in_vain(opened: list[int], lengths: list[int], rank: int, size: int) -> list[int]:
    """The files among them in which none of a rank's elements lie."""
    begin, end = _share(sum(lengths), rank, size)
    starts = np.cumsum([0, *lengths])
    return [
        other
        for other in opened
        if other >= len(lengths) or min(end, starts[other + 1]) <= max(begin, starts[other])
    ]


def _storage(function, rank: int, size: int, folder: Path, loaded: Any) -> dict[str, str]:
    """Does the tensor share its memory with more of the file, or with another call's result?"""
    import torch

    if not isinstance(loaded, torch.Tensor):
        return {"storage": "none", "result of a second call": AGAIN}
    own = loaded.untyped_storage().nbytes() == loaded.numel() * loaded.element_size()
    again = function(rank, size, str(folder), STEP)
    kept = loaded.numel() and again.data_ptr() == loaded.data_ptr()
    second = OF_FIRST if kept else AGAIN if _later(function, rank, size, folder) else OF_LATER
    return {"storage": OWN if own else SHARED, "result of a second call": second}


def _later(function, rank: int, size: int, folder: Path) -> bool:
    """Is a second checkpoint, that many ranks have saved, loaded as it should be?"""
    import torch

    checkpoints.lay_down(folder, LATER, BY_MANY, seed=97)
    flat = checkpoints.flat_of(BY_MANY, 97)
    begin, end = _share(len(flat), rank, size)
    loaded = function(rank, size, str(folder), LATER)
    if not isinstance(loaded, torch.Tensor) or loaded.shape != (end - begin,):
        return False
    # of whatever type, on whatever device: what the first call gave is judged by those
    return torch.equal(loaded.detach().double().cpu(), torch.from_numpy(flat[begin:end]).double())


# what hints ask


def _looks_like(look: Look, part) -> bool:
    """Did each rank return part(flat, rank, size) of the whole, and is that not what was asked?"""
    flat = checkpoints.flat_of(look.case.params["lengths"], look.inputs[0]["seed"])
    return everywhere(look, [part(flat, rank, look.size) for rank in look.ranks])


def _as_saved(look: Look) -> bool:
    lengths = look.case.params["lengths"]
    return _looks_like(
        look, lambda flat, rank, size: flat[sum(lengths[:rank]) : sum(lengths[: rank + 1])]
    )


def _even(flat: np.ndarray, rank: int, size: int) -> np.ndarray:
    """By pieces of ⌈n/size⌉."""
    width = -(-len(flat) // size)
    return flat[rank * width : (rank + 1) * width]


def _floor(flat: np.ndarray, rank: int, size: int) -> np.ndarray:
    width = len(flat) // size
    return flat[rank * width : len(flat) if rank == size - 1 else (rank + 1) * width]


def _dropped(flat: np.ndarray, rank: int, size: int) -> np.ndarray:
    width = len(flat) // size
    return flat[rank * width : (rank + 1) * width]


def _of_odd_type(got: Any) -> bool:
    """Is it a tensor of a type that NumPy does not have, such as bfloat16?"""
    return isinstance(got, Foreign) and got.type_name.startswith(f"{ODD_TENSOR}dtype ")


def _counts(raised: Raised) -> bool:
    """Does the answer look at which files there are, or count up to `size`?"""
    for node in ast.walk(raised.answer) if raised.answer is not None else ():
        name = getattr(node, "attr", getattr(node, "id", ""))
        if name in ("listdir", "scandir", "walk", "glob", "iglob", "rglob", "iterdir"):
            return True
        if isinstance(node, ast.Call) and ast.unparse(node) == "range(size)":
            return True
    return False


exercise = Exercise(
    points=4,
    make=_inputs,
    call=_call,
    group=False,
    tolerance=Tolerance(rtol=0.0, atol=0.0),
    asks="load_resharded returns this rank's piece, elements r·n//size up to (r+1)·n//size of the "
    "flat tensor, as a 1-D float32 tensor with a storage of its own; it opens no rank's file in "
    "which none of them lie, and raises FileNotFoundError where there is no such checkpoint.",
    visible=(
        Case(3, 1, {"lengths": [3, 3, 3, 3]}),
        Case(2, 2, {"lengths": [5, 0, 4, 2]}),
        Case(4, 3, {"lengths": [3]}),
        Case(2, 4, {"lengths": [2, 2], "there": "no index"}),
    ),
    advice=(
        Advice(
            "nothing to join", "expected a non-empty list of Tensors|need at least one array",
            "There can be more ranks than elements: a rank to which none fall returns an empty "
            "tensor, torch.empty(0).",
        ),
        Advice(
            "files counted", "list index out of range",
            "How many pieces there are is said by the lengths in the index alone: count neither "
            "the files nor the ranks of now. The step's folder can hold more files than the index "
            "tells of, left by an older save of more ranks.",
            _counts,
        ),
        Advice(
            "past the last piece", "list index out of range",
            "It went past the end of a list. A rank may get no elements, and a checkpoint may hold "
            "none at all: then no piece is the one in which this rank's elements begin.",
        ),
    ),
    hints=(
        Hint(
            "another exception", lambda look: look.case.get("there") in NOTHING,
            "There is nothing to load here: no such folder, no such step, or a step without its "
            "index, which is no checkpoint. Say so with FileNotFoundError. (open raises it by "
            "itself.)",
        ),
        Hint(
            "not a tensor",
            lambda look: any(
                not isinstance(got, np.ndarray) and not _of_odd_type(got) for got in look.returned
            ),
            "Return a tensor, on every rank: torch.empty(0) where nothing falls to it.",
        ),
        Hint(
            "as it was saved", _as_saved,
            "These are the pieces as they were saved. Now there are `size` ranks: where a piece "
            "begins and ends has to be worked out anew.",
        ),
        Hint(
            "other boundaries", lambda look: any(
                _looks_like(look, part) for part in (_even, _floor, _dropped)),
            "The whole was divided, but at other places: rank r has elements r·n//size up to "
            "(r+1)·n//size.",
        ),
        Hint(
            "everything", lambda look: look.size > 1 and _looks_like(
                look, lambda flat, rank, size: flat),
            "Every rank returned the whole tensor: return this rank's piece alone.",
        ),
        Hint(
            "files in vain", lambda look: any(look.left("files opened in vain")),
            "A rank opened files in which none of its elements lie: with a thousand ranks that is "
            "a thousand times the traffic. The lengths in the index say which files it needs; a "
            "file of length 0 is needed by nobody.",
        ),
        Hint(
            "shared storage", lambda look: SHARED in look.left("storage"),
            "The piece is a view of a larger tensor, which stays in memory as long as the piece "
            "does: copy it (clone).",
        ),
        Hint(
            "kept between calls",
            lambda look: OF_FIRST in look.left("result of a second call"),
            "Two calls gave one and the same tensor: whoever changes one changes both.",
        ),
        Hint(
            "shape or dtype", lambda look: any(
                _of_odd_type(got) or got.ndim != 1 or got.dtype != np.float32
                for got in look.returned
            ),
            "Return a 1-D float32 tensor.",
        ),
        Hint(
            "another checkpoint",
            lambda look: not look.differs("returned")
            and OF_LATER in look.left("result of a second call"),
            f"Another step of the same folder, which {len(BY_MANY)} ranks have saved, is not "
            "loaded as it should be. Does each call read the index of its own step? And is each "
            "file found by its rank's number? In a sorted list of names rank-10.pt stands before "
            "rank-2.pt. And a piece can lie in more than two files.",
        ),
    ),
)  # fmt: skip
