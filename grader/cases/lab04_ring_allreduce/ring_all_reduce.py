"""Hidden cases of `ring_all_reduce`."""

from distlab.exercises.exercise import Case
from grader.cases.lab04_ring_allreduce.sizes import LARGE, WIDE

HIDDEN = (
    Case(3, 101, {"shape": [9]}),
    Case(3, 102, {"shape": [9]}),
    Case(5, 103, {"shape": [3, 5], "dtype": "float64"}),
    Case(4, 104, {"shape": [7], "dtype": "int64", "times": WIDE}),
    Case(5, 105, {"shape": [3]}),
    Case(1, 106, {"shape": [4]}),
    Case(4, 107, {"shape": [0]}),
    Case(5, 108, {"shape": [1]}),
    Case(3, 109, {"shape": [20_001]}),
    Case(2, 110, {"shape": [5, 3, 1]}),
    Case(2, 111, {"shape": [2 * LARGE]}),
)
