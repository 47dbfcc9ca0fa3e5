"""`unshard`: the way back from pieces to full tensors, by one all-gather."""

from __future__ import annotations

import math

import numpy as np

from distlab.course.lab10_sharding_and_overlap.flat import drawn, pieces_of, shortened
from distlab.course.lab10_sharding_and_overlap.rules import calls, others, stray, traffic_of
from distlab.exercises import hints
from distlab.exercises.compare import KEEPS_FLOAT64
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.traffic import called


def _pieces(case: Case) -> list[dict]:
    generator, dtype = case.generator(), case.get("dtype", "float32")
    shapes = case.params["shapes"]
    full = [drawn(generator, shape, dtype) for shape in shapes]
    return [
        {"piece": piece, "shapes": [tuple(shape) for shape in shapes]}
        for piece in pieces_of(full, case.size)
    ]


def _call(function, rank, size, inputs):
    return shortened(function(rank, size, inputs["piece"], list(inputs["shapes"])))


def _one_all_gather(look: Look) -> str | None:
    """One all-gather over all ranks, to which each gives its piece."""
    nothing_else = ", and one all-gather is asked for and nothing else."
    if said := stray(look, "all_gather", instead=nothing_else):
        return said
    piece = look.inputs[0]["piece"]
    needed = look.size > 1 and piece.size > 0
    for rank in look.ranks:
        events = traffic_of(look, rank)
        if not events and needed:
            return f"rank {rank} took part in no all-gather."
        if len(events) > 1:
            return f"rank {rank} took part in {len(events)} all-gathers: one is asked for."
        for event in events:
            if event.nbytes != piece.nbytes and needed:
                return f"{called(event)} with {event.nbytes} bytes, and a piece has {piece.nbytes}."
    return None


# hints


def _line(look: Look) -> np.ndarray:
    """All pieces end to end, padding included."""
    return np.concatenate(look.given("piece"))


def _count(look: Look) -> int:
    """The number of elements without the padding."""
    return sum(math.prod(shape) for shape in look.inputs[0]["shapes"])


def _right_line(look: Look) -> np.ndarray:
    return _line(look)[: _count(look)]


def _parts(returned) -> list:
    return list(returned) if isinstance(returned, (list, tuple)) else [returned]


def _flat(look: Look) -> list[np.ndarray]:
    """What each rank returned, end to end."""
    return [np.concatenate([p.reshape(-1) for p in _parts(got)]) for got in look.returned]


def _ordered(look: Look) -> bool:
    """Do the right elements stand in their order on every rank?"""
    return all(np.array_equal(line, _right_line(look)) for line in _flat(look))


def _mixed_up(look: Look) -> bool:
    """Are they all elements of the pieces, with no more zeros than pad them, and not in their
    order?
    """
    line = _line(look)
    return look.size > 1 and all(
        found.size == _count(look)
        and np.isin(found, line).all()
        and (found == 0).sum() <= line.size - _count(look)
        for found in _flat(look)
    )


def _single_numbers_skipped(look: Look) -> bool:
    """Was the line handed out as if a shape of () took no element of it?"""
    shapes = look.inputs[0]["shapes"]
    ends = np.cumsum([math.prod(shape) if shape else 0 for shape in shapes])
    parts = np.split(_line(look), ends)[:-1]
    return not all(shapes) and all(
        len(got) == len(shapes)
        and all(
            np.array_equal(found.reshape(-1), part)
            for found, part, shape in zip(got, parts, shapes, strict=True)
            if shape
        )
        for got in look.returned
    )


def _own_piece_alone(look: Look) -> bool:
    """Is every rank's own share right, and everything else not?"""
    right, length = _right_line(look), look.inputs[0]["piece"].size
    own = [slice(rank * length, (rank + 1) * length) for rank in look.ranks]
    return look.size > 1 and all(
        np.array_equal(line[mine], right[mine]) and not np.array_equal(line, right)
        for line, mine in zip(_flat(look), own, strict=True)
    )


def _repeated(look: Look) -> bool:
    """Does every rank have the piece of some rank in every place?"""
    lines = [np.tile(piece, look.size)[: _count(look)] for piece in look.given("piece")]
    return not _ordered(look) and all(
        any(np.array_equal(found, line) for line in lines) for found in _flat(look)
    )


exercise = Exercise(
    points=2,
    make=_pieces,
    call=_call,
    asks="unshard gathers the pieces of all ranks by one all-gather and returns, on every rank, "
    "the list of full tensors of these shapes, without the padding.",
    tolerance=KEEPS_FLOAT64,
    visible=(
        Case(2, 1, {"shapes": [[2, 3], [3]]}),
        Case(3, 2, {"shapes": [[4, 2], [], [0, 3], [2]]}),
    ),
    traffic=(_one_all_gather,),
    hints=(
        hints.NOTHING,
        hints.EARLY,
        Hint(
            "flat tensor returned",
            lambda look: any(isinstance(got, np.ndarray) for got in look.returned),
            "One tensor came back: cut it into as many elements as each shape has, and give each "
            "cut its shape.",
        ),
        Hint(
            "fewer tensors",
            lambda look: any(
                isinstance(got, (list, tuple)) and len(got) < len(look.inputs[0]["shapes"])
                for got in look.returned
            ),
            "There are fewer tensors than shapes: each shape has one, also one without elements. "
            "(A `return` inside the loop ends it.)",
        ),
        Hint(
            "padding left in",
            lambda look: any(
                len(line) > _count(look)
                and np.array_equal(line[: _count(look)], _right_line(look))
                and not line[_count(look) :].any()
                for line in _flat(look)
            ),
            "The padding came back too: behind the last tensor's elements there are zeros that "
            "belong to none of them.",
        ),
        Hint(
            "not in their shapes",
            lambda look: (
                _ordered(look)
                and any(
                    part.shape != tuple(shape)
                    for got in look.returned
                    for part, shape in zip(got, look.inputs[0]["shapes"], strict=False)
                )
            ),
            "The elements are right and in their order, and the tensors have other shapes than "
            "those in `shapes`.",
        ),
        Hint(
            "another collective",
            lambda look: others(look, "all_gather", "barrier"),
            "Each rank has one piece and is to get all of them: that is what an all-gather is for. "
            "Other ways send more, or more often.",
        ),
        Hint(
            "several all-gathers",
            lambda look: calls(look, "all_gather") > 1,
            "Gather the whole piece at once and cut afterwards, not tensor by tensor. "
            "(all_gather_object takes two all-gathers: first it tells how long the objects are.)",
        ),
        Hint(
            "no communication",
            lambda look: look.size > 1 and not look.events() and _own_piece_alone(look),
            "Only the own piece is there: the others have theirs, and nothing was gathered.",
        ),
        Hint(
            "one buffer for all",
            _repeated,
            "The same piece stands in every place: `[buffer] * size` is one buffer, `size` times. "
            "Make one for each rank.",
        ),
        Hint(
            "single numbers skipped",
            lambda look: (
                _single_numbers_skipped(look)
                and not all(map(look.same, look.wanted, look.returned))
            ),
            "The shape () was taken for one without elements. It is that of a single number, which "
            "takes one place in the line: math.prod(()) is 1.",
        ),
        Hint(
            "order of pieces",
            lambda look: _mixed_up(look) and not _ordered(look),
            "Elements stand in other places than they should: in the line rank 0's piece comes "
            "first, on every rank, and the padding last.",
        ),
        Hint(
            hints.DTYPE.name,
            lambda look: any(
                part.dtype != look.inputs[0]["piece"].dtype
                for got in look.returned
                for part in _parts(got)
            ),
            hints.DTYPE.says,
        ),
    ),
)
