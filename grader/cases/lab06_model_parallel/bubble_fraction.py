"""Hidden cases of `bubble_fraction`."""

from distlab.exercises.exercise import Case
from grader.cases import Drawn, Varied, near


def _schedule(seed, size, microbatches):
    return Drawn(1, seed, lambda chance: {
        "size": chance.around(size), "microbatches": chance.around(microbatches)
    })  # fmt: skip


HIDDEN = (
    Varied(Case(1, 101, {"size": 1, "microbatches": 5}), near("size")),
    _schedule(102, 8, 32),
    _schedule(103, 64, 13),
    Varied(Case(1, 104, {"size": 3, "microbatches": 7}), near()),
    Varied(Case(1, 105, {"size": 2, "microbatches": 100_000}), near("size")),
)

VISIBLE = (near(), near())
