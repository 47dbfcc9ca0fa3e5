"""Hidden cases of `row_parallel_linear`."""

from distlab.exercises.exercise import Case
from grader.cases.lab06_model_parallel.sizes import LARGE

HIDDEN = (
    Case(4, 101, {"in": 8, "out": 3, "rows": [5]}),
    Case(4, 102, {"in": 8, "out": 3, "rows": [5]}),
    Case(5, 103, {"in": 5, "out": 7, "rows": [2, 3, 2], "dtype": "float64"}),
    Case(1, 104, {"in": 4, "out": 3, "rows": [2, 2]}),
    Case(3, 105, {"in": 9, "out": 5, "rows": [1]}),
    Case(2, 106, {"in": 40, "out": 30, "rows": [8, 16]}),
    Case(2, 107, {"in": 2, "out": 8, "rows": [LARGE]}),
)
