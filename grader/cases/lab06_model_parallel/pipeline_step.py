"""Hidden cases of `pipeline_step`."""

from distlab.exercises.exercise import Case
from grader.cases.lab06_model_parallel.sizes import LARGE

HIDDEN = (
    Case(3, 101, {"widths": [4, 4, 4, 4], "rows": [6], "microbatches": 3}),
    Case(3, 102, {"widths": [4, 4, 4, 4], "rows": [6], "microbatches": 3}),
    Case(
        5,
        103,
        {"widths": [2, 3, 4, 5, 6, 1], "rows": [12, 2], "microbatches": 6, "dtype": "float64"},
    ),
    Case(1, 104, {"widths": [3, 2], "rows": [6], "microbatches": 3}),
    Case(4, 105, {"widths": [3, 4, 2, 5, 1], "rows": [4], "microbatches": 1}),
    Case(4, 106, {"widths": [3, 3, 3, 2, 2], "bare": [0, 1], "rows": [10], "microbatches": 5}),
    Case(3, 107, {"widths": [3, 4, 2, 2], "bare": [2], "rows": [4], "microbatches": 2}),
    Case(2, 108, {"widths": [30, 60, 20], "rows": [128], "microbatches": 8}),
    Case(2, 109, {"widths": [1, 8, 1], "rows": [LARGE], "microbatches": 1}),
)
