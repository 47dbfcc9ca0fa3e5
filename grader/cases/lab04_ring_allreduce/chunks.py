"""Cases of the two halves of a ring."""

from distlab.exercises.exercise import Case
from grader.cases.lab04_ring_allreduce.sizes import LARGE, WIDE

CHUNKS = (
    Case(3, 101, {"shape": [5]}),
    Case(3, 102, {"shape": [5]}),
    Case(5, 103, {"shape": [2, 3], "dtype": "float64"}),
    Case(4, 104, {"dtype": "int64", "times": WIDE}),
    Case(1, 105),
    Case(2, 106, {"shape": [4000]}),
    Case(5, 107, {"shape": [1]}),
    Case(2, 108, {"shape": [LARGE]}),
)
