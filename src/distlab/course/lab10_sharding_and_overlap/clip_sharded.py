"""`clip_sharded`: the norm of a gradient that lies in pieces on all ranks."""

from __future__ import annotations

import math

import numpy as np

from distlab.course.lab10_sharding_and_overlap.flat import shortened
from distlab.course.lab10_sharding_and_overlap.rules import calls, others, stray, traffic_of
from distlab.exercises import hints
from distlab.exercises.compare import Tolerance
from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.traffic import called


def _gradients(case: Case) -> list[dict]:
    """`shapes`: of each rank's pieces; `scale`: of their elements; `share`: of the norm, taken for
    `max_norm`.
    """
    dtype, scale = case.get("dtype", "float32"), case.get("scale", 1.0)
    made = []
    for rank in range(case.size):
        generator = case.generator(rank)
        drawn = [generator.standard_normal(shape) for shape in case.params["shapes"][rank]]
        pieces = [np.asarray(array * scale, dtype) for array in drawn]
        made.append({"pieces": pieces, "max_norm": case.get("max_norm", 1.0)})
    if share := case.get("share"):
        norm = math.hypot(*(float(x) for one in made for p in one["pieces"] for x in p.flat))
        made = [{**one, "max_norm": share * norm} for one in made]
    return made


def _call(function, rank, size, inputs):
    pieces = list(inputs["pieces"])  # the function gets a copy of the list, with the same tensors
    norm = function(rank, size, list(pieces), inputs["max_norm"])
    return {"returned": norm, "pieces": shortened(pieces, lengths=True)}


def _one_number(look: Look) -> str | None:
    """One all-reduce of one element over all ranks."""
    nothing_else = ", and one all-reduce is asked for and nothing else."
    if said := stray(look, "all_reduce", instead=nothing_else):
        return said
    for event in look.events("all_reduce"):
        if event.elements != 1:
            return f"{called(event)} on {event.elements} elements: one is enough."
    needed = look.size > 1 and any(piece.size for own in look.given("pieces") for piece in own)
    for rank in look.ranks:
        times = len(traffic_of(look, rank))
        if not times and needed:
            return f"rank {rank} took part in no all-reduce."
        if times > 1:
            return f"rank {rank} called {times} all-reduces: one is asked for."
    return None


# hints


def _line(pieces: list) -> np.ndarray:
    """Pieces end to end."""
    return np.concatenate([np.zeros(0), *(p.reshape(-1).astype("float64") for p in pieces)])


def _norms(look: Look, order: int = 2) -> list[float]:
    """Of each rank's own pieces."""
    return [float(np.linalg.norm(_line(own), order)) for own in look.given("pieces")]


def _norms_of_pieces(look: Look) -> list[float]:
    """Of each piece of each rank."""
    return [float(np.linalg.norm(_line([piece]))) for own in look.given("pieces") for piece in own]


def _is(of):
    """Did some rank return `of(look, rank)`, and is that not the norm?"""

    def shows(look: Look) -> bool:
        return any(
            not look.same(want, got) and look.same(float(of(look, rank)), got)
            for rank, (want, got) in enumerate(look.pairs())
        )

    return shows


def _right_norm(look: Look) -> bool:
    return not look.differs("returned")


def _left(look: Look) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """(before, wanted, found) of each rank's pieces, end to end."""
    of_ranks = zip(look.given("pieces"), look.asked("pieces"), look.left("pieces"), strict=True)
    return [tuple(map(_line, pieces)) for pieces in of_ranks]


def _scaled(look: Look) -> list[tuple[float, np.ndarray, np.ndarray]]:
    """(by what they were multiplied, before, found) of the pieces of each rank."""
    return [
        (float((found @ before) / (before @ before)), before, found)
        for before, _, found in _left(look)
        if before.any()
    ]


def _not_scaled(look: Look) -> bool:
    """Is the norm right, and are the pieces as they were, which is wrong?"""
    alike = [np.allclose(found, before, rtol=1e-4, atol=0.0) for before, _, found in _left(look)]
    return _right_norm(look) and all(alike) and look.differs("pieces")


def _other_factors(look: Look) -> bool:
    """Was each rank's gradient multiplied by one factor, and not by the same one on all ranks?"""
    factors = [factor for factor, _, _ in _scaled(look)]
    return max(factors) > 1.0005 * min(factors) and all(
        np.allclose(found, before * factor, rtol=1e-4, atol=0.0)
        for factor, before, found in _scaled(look)
    )


def _some_left_alone(look: Look) -> bool:
    """Are some pieces right, and the others as they were?"""
    told = [
        (look.same(want, got), look.same(before, got))
        for own, (wanted, found) in zip(look.given("pieces"), look.pairs("pieces"), strict=True)
        for before, want, got in zip(own, wanted, found, strict=True)
        if before.any() and isinstance(got, np.ndarray)
    ]
    return all(map(any, told)) and any(right and not same for right, same in told)


exercise = Exercise(
    points=3,
    make=_gradients,
    call=_call,
    # asked is 1e-5, but torch's own norm of a million float32 is off by 2.1e-5 with AVX512
    tolerance=Tolerance(rtol=4e-5, atol=1e-30),
    asks="clip_sharded returns the L2 norm over all pieces of all ranks as a float and scales this "
    "rank's pieces in place by min(1, max_norm/(norm + 1e-6)).",
    visible=(
        Case(2, 1, {"shapes": [[[2, 3], [3]], [[4]]], "max_norm": 1.0}),
        Case(3, 2, {"shapes": [[[5]], [], [[0], [2]]], "max_norm": 0.5, "dtype": "float64"}),
        Case(2, 3, {"shapes": [[[2]], [[3]]], "max_norm": 100.0}),
    ),
    traffic=(_one_number,),
    hints=(
        hints.NOTHING,
        Hint(
            "tensor for float",
            lambda look: any(isinstance(got, np.ndarray) for got in look.returned),
            "The norm is to be a plain float: .item() makes one of a tensor that holds one value.",
        ),
        Hint(
            "read before wait",
            lambda look: any(isinstance(got, float) and np.isnan(got) for got in look.returned),
            hints.EARLY.says,
        ),
        Hint(
            "largest norm",
            lambda look: (
                min(_norms(look)) > 0 and hints.everywhere(look, [max(_norms(look))] * look.size)
            ),
            "This is the largest of the ranks' norms: look at the operation of the all-reduce.",
        ),
        Hint(
            "own norm",
            _is(lambda look, rank: _norms(look)[rank]),
            "This is the norm of a rank's own pieces. The gradient lies on all ranks: what do they "
            "have to add up?",
        ),
        Hint(
            "norms added",
            lambda look: (
                _is(lambda look, rank: sum(_norms(look)))(look)
                or _is(lambda look, rank: sum(_norms_of_pieces(look)))(look)
            ),
            "The norms of pieces, or of ranks, were added. Norms do not add up: their squares do.",
        ),
        Hint(
            "square",
            _is(lambda look, rank: sum(n * n for n in _norms(look))),
            "This is the square of the norm: the root is missing.",
        ),
        Hint(
            "mean of squares",
            _is(lambda look, rank: (sum(n * n for n in _norms(look)) / look.size) ** 0.5),
            "The squares were averaged over the ranks: the sum is meant. The pieces are parts of "
            "one gradient, not several gradients.",
        ),
        Hint(
            "another norm",
            _is(lambda look, rank: sum(_norms(look, 1))),
            "This is the sum of the absolute values: the L2 norm is the root of the sum of "
            "squares.",
        ),
        Hint(
            "epsilon in the norm",
            _is(lambda look, rank: look.wanted[rank] + 1e-6),
            "The 1e-6 was returned too: it belongs to the factor alone, not to the norm.",
        ),
        Hint(
            "norm after clipping",
            lambda look: any(
                isinstance(got, float)
                and got < 0.999 * look.wanted[0]
                and abs(got - look.inputs[0]["max_norm"]) < 1e-3 * look.inputs[0]["max_norm"]
                for got in look.returned
            ),
            "The returned norm is that of the clipped pieces: return what it was before.",
        ),
        Hint(
            "several all-reduces",
            lambda look: calls(look, "all_reduce") > 1,
            "One number has to travel: add up the squares of all pieces of this rank first. How "
            "many pieces the others have, this rank does not know.",
        ),
        Hint(
            "another collective",
            lambda look: others(look, "all_reduce", "barrier"),
            "One all-reduce of one element does it: nothing else has to travel.",
        ),
        Hint(
            "small gradients made larger",
            lambda look: _right_norm(look) and any(f > 1.0001 for f, _, _ in _scaled(look)),
            "The gradient was shorter than max_norm, and was stretched: the factor is at most 1.",
        ),
        Hint(
            "too long with the epsilon",
            lambda look: look.wanted[0] <= look.inputs[0]["max_norm"] and _not_scaled(look),
            "The norm is right and not above max_norm, and the pieces are as they were. But norm + "
            "1e-6 is above it, so that max_norm/(norm + 1e-6) is below 1: it is this factor that "
            "says whether to scale.",
        ),
        Hint(
            "only just too long",
            lambda look: look.case.get("share") and _not_scaled(look),
            "The norm is right, and only a little above max_norm, and the pieces are as they were: "
            "they are scaled as soon as max_norm/(norm + 1e-6) is below 1.",
        ),
        Hint(
            "not scaled",
            _not_scaled,
            "The norm is right, and the pieces are as they were. Write into the tensors that you "
            "were given (mul_): `p = p * factor` makes a new one that nobody else sees.",
        ),
        Hint(
            "no epsilon",
            lambda look: _right_norm(look) and 0 < look.wanted[0] < 1e-3,
            "The factor is max_norm/(norm + 1e-6): with a tiny norm the difference shows.",
        ),
        Hint(
            "elements clipped",
            lambda look: (
                _right_norm(look)
                and any(
                    np.abs(found).max(initial=0) <= look.inputs[0]["max_norm"] * 1.0001
                    and (np.isclose(np.abs(found), look.inputs[0]["max_norm"])).any()
                    for _, _, found in _left(look)
                )
            ),
            "Each element was cut off by itself. The pieces keep their direction: all are "
            "multiplied by one factor.",
        ),
        Hint(
            "factors differ",
            lambda look: _right_norm(look) and _other_factors(look),
            "Ranks have multiplied by different factors: it is the norm over all ranks that says "
            "whether to clip, and by how much.",
        ),
        Hint(
            "some pieces not scaled",
            lambda look: _right_norm(look) and _some_left_alone(look),
            "Some pieces are right and others as they were: on every rank all pieces are "
            "multiplied, whatever their shape and place in the list.",
        ),
        Hint(
            "pieces nearly right",
            lambda look: (
                _right_norm(look)
                and look.differs("pieces")
                and all(
                    np.allclose(found, want, rtol=1e-2, atol=0.0) for _, want, found in _left(look)
                )
            ),
            "The norm is right, and so are the pieces but for their last digits: was something "
            "computed or kept in a narrower type?",
        ),
    ),
)
