"""`ring_all_reduce`: both halves, on a tensor of any shape."""

from __future__ import annotations

import numpy as np

from distlab.course.lab04_ring_allreduce import rings
from distlab.course.lab04_ring_allreduce.chunks import drawn
from distlab.exercises import hints, traffic
from distlab.exercises.compare import KEEPS_FLOAT64
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.hints import own_tensor, total
from distlab.exercises.raised import Advice


def _tensor_of_each_rank(case: Case) -> list[dict]:
    return [{"tensor": drawn(case, rank, case.get("shape", [8]))} for rank in range(case.size)]


def _shares_of_elements(look: Look) -> list[tuple[int, ...]]:
    """For each rank and the first elements of what it returned, how often each rank's part is in
    them, where they are such sums.
    """
    parts, found = look.given("tensor"), []
    for got in look.returned:
        if isinstance(got, np.ndarray) and got.shape == parts[0].shape:
            for place in range(min(got.size, 12)):
                element = [part.reshape(-1)[place : place + 1] for part in parts]
                found.append(rings.shares(element, got.reshape(-1)[place : place + 1]))
    return [shares for shares in found if shares is not None]


def _tail_alone(look: Look) -> bool:
    """Are only the elements wrong that are left when the tensor is cut into equal chunks?"""
    want = total(look).reshape(-1)
    whole = want.size // look.size * look.size
    return (
        0 < whole < want.size
        and all(isinstance(got, np.ndarray) and got.size == want.size for got in look.returned)
        and all(look.same(want[:whole], got.reshape(-1)[:whole]) for got in look.returned)
    )


exercise = Exercise(
    points=4,
    make=_tensor_of_each_rank,
    asks="In ring_all_reduce every rank returns the sum of all tensors, in the input's shape and "
    "dtype; each rank sends 2(size − 1) messages, all to (r + 1) mod size, none larger than "
    "⌈n/size⌉ elements.",
    tolerance=KEEPS_FLOAT64,
    visible=(
        Case(4, 1), Case(2, 2, {"shape": [2, 3]}), Case(4, 3, {"shape": [6]}),
        Case(3, 4, {"shape": [2]}),
    ),
    traffic=(traffic.no_collectives, rings.ring_of_chunks),
    advice=(
        Advice(
            "one length for all chunks", "match the (broadcast shape|size of tensor)",
            "What arrives is a chunk of another length than this one. Where `size` does not divide "
            "the length, chunks differ by one element: each needs a buffer of its own length. Or "
            "fill the tensor up with zeros first, and all are equal.",
        ),
    ),
    hints=(
        hints.EARLY,
        *rings.TRAFFIC,
        Hint(
            "barrier",
            lambda look: any(e.op == "barrier" for e in look.events()),
            "A barrier is a collective too, and a ring needs none: a receive waits by itself.",
        ),
        Hint(
            "flat",
            lambda look: any(
                isinstance(got, np.ndarray) and got.shape == (want.size,) != want.shape
                for want, got in look.pairs()
            ),
            "The values are in one dimension: give the result the shape of the input again.",
        ),
        Hint(
            "other length",
            lambda look: any(
                isinstance(got, np.ndarray) and got.size != want.size
                for want, got in look.pairs()
            ),
            "The result has another length than the input: what was added to make equal chunks has "
            "to come off again, and chunks of unequal length must all be there.",
        ),
        Hint(
            "rest left out",
            _tail_alone,
            "All elements are right but the last few. n // size elements a chunk leave a rest when "
            "size does not divide n; torch.tensor_split gives chunks that hold everything. And "
            "where each chunk was filled up with zeros by itself, they have to come off each chunk "
            "by itself, not off the end of all.",
        ),
        rings.OTHER_DTYPE,
        rings.WHOLE,
        hints.MEAN_FOR_SUM,
        own_tensor("Each rank returned its own tensor: its chunks have to end up in what you "
                   "return. Are they views of the tensor, or copies?"),
        Hint(
            "parts missing",
            lambda look: any(0 in shares for shares in _shares_of_elements(look)),
            "Some elements lack the part of a rank. Did your reduce-scatter and your all-gather "
            "both pass, and do they work on the same chunks?",
        ),
        Hint(
            "parts twice",
            lambda look: any(max(shares) > 1 for shares in _shares_of_elements(look)),
            "Some elements hold the part of a rank twice: something is added in the second half of "
            "the ring, where chunks are only handed on.",
        ),
    ),
)  # fmt: skip
