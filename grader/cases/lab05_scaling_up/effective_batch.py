"""Hidden cases of `effective_batch`."""

from distlab.exercises.formulas import case_of
from grader.cases import Varied, like, near


def _multiple(chance, params):
    """A batch per rank that the accumulation divides: whole division then is no other mistake."""
    return {**params, "per_rank": params["accumulation"] * chance.whole(2, 40)}


HIDDEN = (
    case_of(per_rank=1, size=1, accumulation=1),
    like(101, per_rank=24, size=3, accumulation=5),
    Varied(case_of(per_rank=7, size=1024, accumulation=1), near("accumulation")),
    like(102, per_rank=33, size=7, accumulation=9),
    Varied(case_of(per_rank=33, size=1, accumulation=9), near("size")),
    Varied(case_of(per_rank=8, size=5, accumulation=2), near()),
)

VISIBLE = (_multiple, _multiple)
