"""Hidden cases of `sync_parameter_server`."""

from distlab.exercises.exercise import Case
from grader.cases.lab04_ring_allreduce.sizes import LARGE

HIDDEN = (
    Case(3, 101, {"shapes": [[4], [2, 3]]}),
    Case(3, 102, {"shapes": [[4], [2, 3]]}),
    Case(5, 103, {"lr": 0.01}),
    Case(4, 104, {"dtype": "float64", "shapes": [[1]]}),
    Case(2, 105, {"lr": 1.0, "shapes": [[2, 2, 2], [5], [1, 1]]}),
    Case(3, 106, {"shapes": [[6000], [7]]}),
    Case(3, 107, {"shapes": [[LARGE], [7]]}),
)
