"""Hidden cases of `run_demo`."""

from distlab.exercises.exercise import Case
from grader.cases import Varied

HIDDEN = (
    Varied(
        Case(1, 101, {"world_size": 3, "fails": 2, "script": True}),
        lambda chance, params: {**params, "number": chance.whole(10_000, 10**9)},
    ),
)
