"""Hidden cases of `memory_per_rank`."""

from distlab.exercises.exercise import Case
from grader.cases import Drawn, Varied, near


def _memory(seed, parameters, size, stage):
    return Drawn(1, seed, lambda chance: {
        "parameters": chance.around(parameters), "size": size, "stage": stage
    })  # fmt: skip


_PARAMETERS = near("size", "stage")

HIDDEN = (
    Varied(Case(1, 101, {"parameters": 1000, "size": 4, "stage": 2}), _PARAMETERS),
    Varied(Case(1, 102, {"parameters": 1000, "size": 4, "stage": 3}), _PARAMETERS),
    _memory(103, 7_500_000_000, 64, 1),
    _memory(104, 7_500_000_000, 64, 2),
    Varied(Case(1, 105, {"parameters": 1_000_003, "size": 7, "stage": 1}), _PARAMETERS),
    _memory(106, 1_000_003, 7, 2),
    _memory(107, 1_000_003, 7, 3),
    Varied(Case(1, 108, {"parameters": 10, "size": 1, "stage": 3}), _PARAMETERS),
    Varied(Case(1, 109, {"parameters": 175_000_000_000, "size": 1024, "stage": 0}), _PARAMETERS),
)

VISIBLE = (_PARAMETERS, _PARAMETERS)
