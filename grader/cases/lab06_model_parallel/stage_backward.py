"""Hidden cases of `stage_backward`."""

from distlab.exercises.exercise import Case
from grader.cases.lab06_model_parallel.sizes import LARGE

HIDDEN = (
    Case(3, 101, {"widths": [4, 4, 4, 4], "rows": [5]}),
    Case(3, 102, {"widths": [4, 4, 4, 4], "rows": [5]}),
    Case(5, 103, {"widths": [2, 3, 4, 5, 6, 1], "rows": [2, 3], "dtype": "float64"}),
    Case(1, 104, {"widths": [3, 2]}),
    Case(2, 105, {"widths": [30, 40, 20], "rows": [100]}),
    Case(4, 106, {"widths": [3, 3, 3, 2, 2], "bare": [1, 3], "rows": [1]}),
    Case(2, 107, {"widths": [1, 8, 1], "rows": [LARGE]}),
)
