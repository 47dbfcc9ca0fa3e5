"""Hidden cases of `bubble_fraction`."""

from distlab.exercises.exercise import Case
from grader.cases import Drawn


def _schedule(seed, stages, microbatches):
    return Drawn(1, seed, lambda chance: {
        "stages": chance.around(stages), "microbatches": chance.around(microbatches)
    })  # fmt: skip


HIDDEN = (
    Case(1, 101, {"stages": 1, "microbatches": 5}),
    _schedule(102, 8, 32),
    _schedule(103, 64, 13),
    Case(1, 104, {"stages": 3, "microbatches": 7}),
    Case(1, 105, {"stages": 2, "microbatches": 100_000}),
)
