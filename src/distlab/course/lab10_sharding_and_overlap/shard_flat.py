"""`shard_flat`: tensors end to end, and the piece of one rank."""

from __future__ import annotations

import numpy as np

from distlab.course.lab10_sharding_and_overlap.flat import drawn, pieces_of, shortened
from distlab.exercises import hints
from distlab.exercises.compare import KEEPS_FLOAT64
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.traffic import silent

_BEYOND = "number of elements beyond the piece in the returned tensor's storage"
_SHARED = "number of arguments that share the returned tensor's storage"
_CHANGED = "number of arguments that were changed"


def _tensors(case: Case) -> list[dict]:
    """`ahead`: by how much the rank that is asked for is ahead of the one that is asked."""
    generator, dtype = case.generator(), case.get("dtype", "float32")
    tensors = [drawn(generator, shape, dtype) for shape in case.params["shapes"]]
    ahead = {"ahead": case.params["ahead"]} if "ahead" in case.params else {}
    return [{"tensors": tensors, **ahead} for _ in range(case.size)]


def _call(function, rank, size, inputs):
    import torch

    tensors = inputs["tensors"]
    before = [tensor.clone() for tensor in tensors]
    given = list(tensors)
    # torch.empty then holds NaN, and never the zeros that are asked for
    torch._C._set_deterministic_algorithms(True, warn_only=True)
    piece = function((rank + inputs.get("ahead", 0)) % size, size, given)
    left = {
        "returned": shortened(piece),
        _CHANGED: sum(not torch.equal(a, b) for a, b in zip(tensors, before, strict=True))
        + (list(map(id, given)) != list(map(id, tensors))),  # the list is an argument, too
        _BEYOND: 0,
        _SHARED: 0,
    }
    if isinstance(piece, torch.Tensor) and piece.numel():
        storage = piece.untyped_storage()
        left[_BEYOND] = storage.nbytes() // piece.element_size() - piece.numel()
        left[_SHARED] = sum(t.untyped_storage().data_ptr() == storage.data_ptr() for t in tensors)
    return left


def _as(of):
    """A hint's `shows`: did each rank return its one of what `of(line, size)` gives, the line being
    all tensors end to end, and is that wrong?
    """

    def shows(look: Look) -> bool:
        line = np.concatenate([tensor.reshape(-1) for tensor in look.inputs[0]["tensors"]])
        return look.size > 1 and hints.everywhere(look, of(line, look.size))

    return shows


def _unpadded(line, size):
    length = -(-line.size // size)
    return np.split(line, [length * rank for rank in range(1, size)])


def _dropped(line, size):
    return np.split(line[: line.size // size * size], size)


def _dealt(line, size):
    padded = np.pad(line, (0, -line.size % size))
    return [padded[rank::size] for rank in range(size)]


def _padded_in_front(line, size):
    return np.split(np.pad(line, (-line.size % size, 0)), size)


def _each_apart(look: Look) -> bool:
    """Is it each tensor's own piece, end to end?"""
    pieces = [pieces_of([tensor], look.size) for tensor in look.inputs[0]["tensors"]]
    return hints.everywhere(look, [np.concatenate(own) for own in zip(*pieces, strict=True)])


def _of_the_process(look: Look) -> bool:
    """Did each rank return its own piece where another one's was asked for?"""
    ahead, own = look.inputs[0].get("ahead", 0), look.wanted
    return ahead and hints.everywhere(look, own[-ahead:] + own[:-ahead])


def _arrays(look: Look) -> list[tuple[np.ndarray, np.ndarray]]:
    """(wanted, returned) of the ranks that returned a tensor."""
    return [
        (want, got)
        for want, got in look.pairs()
        if isinstance(want, np.ndarray) and isinstance(got, np.ndarray)
    ]


exercise = Exercise(
    points=2,
    make=_tensors,
    call=_call,
    asks="shard_flat returns this rank's piece of all tensors laid end to end: 1-D, ⌈n/size⌉ "
    "elements, zeros where there are no more, in memory of its own.",
    tolerance=KEEPS_FLOAT64,
    visible=(
        Case(2, 1, {"shapes": [[2, 3], [3]]}),
        Case(3, 2, {"shapes": [[4, 2], [], [0, 3], [2]]}),
        Case(1, 3, {"shapes": [[5]]}),
    ),
    rules=(silent("shard_flat"),),
    hints=(
        hints.NOTHING,
        Hint(
            "shares memory",
            lambda look: (
                any(got[_SHARED] or got[_BEYOND] > 0 for got in look.got)
                and not look.differs("returned")
            ),
            "The values are right, but the piece is a view: as long as it lives, the memory of all "
            "the tensors lives too, and nothing is saved. Take a copy of the piece (clone). "
            "(.contiguous() of what is contiguous already is no copy.)",
        ),
        Hint(
            "arguments changed",
            lambda look: any(look.left(_CHANGED)),
            "What it was given, a tensor or the list of them, is different afterwards: work on a "
            "copy.",
        ),
        Hint(
            "not flat",
            lambda look: any(got.ndim != 1 for _, got in _arrays(look)),
            "The piece is to have one dimension: flatten each tensor before you join them.",
        ),
        Hint(
            "rank of the process",
            _of_the_process,
            "Asked for another rank's piece, each rank has made its own: `rank` says whose piece "
            "it is, and not dist.get_rank().",
        ),
        Hint(
            "not padded",
            _as(_unpadded),
            "The last piece is shorter than the others. Collectives want pieces of one length: "
            "fill it up with zeros. (A rank may get nothing but zeros.)",
        ),
        Hint(
            "padded with anything",
            lambda look: (
                len(_arrays(look)) == look.size
                and all(
                    want.shape == got.shape and look.same(want[want != 0], got[want != 0])
                    for want, got in _arrays(look)
                )
            ),
            "Only what fills the line up is wrong: it is to be zeros. torch.empty and resize_ hold "
            "whatever lay in memory before, and a buffer that is used again what an earlier call "
            "left there.",
        ),
        Hint(
            "rest dropped",
            _as(_dropped),
            "The last elements belong to nobody: the length of a piece is n/size rounded up, not "
            "down.",
        ),
        Hint(
            "dealt out",
            _as(_dealt),
            "Elements were dealt out like cards. A rank's piece is consecutive: the first ⌈n/size⌉ "
            "elements are rank 0's, the next ones rank 1's.",
        ),
        Hint(
            "padded in front",
            _as(_padded_in_front),
            "The zeros stand in front: they belong behind the last element.",
        ),
        Hint(
            "each tensor apart",
            _each_apart,
            "Each tensor was cut and padded by itself. Join all of them first: one line, one "
            "padding at its end.",
        ),
        Hint(
            "same piece everywhere",
            lambda look: any(hints.everywhere(look, [piece] * look.size) for piece in look.wanted),
            "All ranks have the same piece: rank says which one is this rank's.",
        ),
        Hint(
            "other length",
            lambda look: any(want.shape != got.shape for want, got in _arrays(look)),
            "Every rank's piece has ⌈n/size⌉ elements, n counting those of all tensors.",
        ),
    ),
)
