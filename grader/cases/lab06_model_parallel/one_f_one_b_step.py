"""Hidden cases of `one_f_one_b_step`."""

from distlab.exercises.exercise import Case
from grader.cases.lab06_model_parallel.sizes import LARGE

HIDDEN = (
    Case(3, 101, {"widths": [4, 4, 4, 4], "rows": [12], "microbatches": 6}),
    Case(3, 102, {"widths": [4, 4, 4, 4], "rows": [12], "microbatches": 6}),
    Case(
        5,
        103,
        {"widths": [2, 3, 4, 5, 6, 1], "rows": [14, 2], "microbatches": 7, "dtype": "float64"},
    ),
    Case(1, 104, {"widths": [3, 2], "rows": [6], "microbatches": 3}),
    Case(4, 105, {"widths": [3, 4, 2, 5, 1], "rows": [4], "microbatches": 1}),
    Case(5, 106, {"widths": [3, 3, 3, 2, 2, 2], "bare": [0, 1], "rows": [6], "microbatches": 3}),
    Case(3, 107, {"widths": [3, 4, 2, 2], "bare": [2], "rows": [32], "microbatches": 16}),
    Case(4, 108, {"widths": [5, 4, 3, 2, 1], "rows": [8], "microbatches": 4}),
    Case(2, 109, {"widths": [1, 8, 1], "rows": [2 * LARGE], "microbatches": 2}),
)
