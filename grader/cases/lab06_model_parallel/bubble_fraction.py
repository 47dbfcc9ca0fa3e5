"""Hidden cases of `bubble_fraction`."""

from distlab.exercises.exercise import Case
from grader.cases import Drawn, Varied, near


def _schedule(seed, stages, microbatches):
    return Drawn(1, seed, lambda chance: {
        "stages": chance.around(stages), "microbatches": chance.around(microbatches)
    })  # fmt: skip


HIDDEN = (
    Varied(Case(1, 101, {"stages": 1, "microbatches": 5}), near("stages")),
    _schedule(102, 8, 32),
    _schedule(103, 64, 13),
    Varied(Case(1, 104, {"stages": 3, "microbatches": 7}), near()),
    Varied(Case(1, 105, {"stages": 2, "microbatches": 100_000}), near("stages")),
)

VISIBLE = (near(), near())
