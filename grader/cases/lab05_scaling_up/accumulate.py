"""Hidden cases of `accumulate`."""

from distlab.exercises.exercise import Case

HIDDEN = (
    Case(2, 101, {"batches": [3, 5, 2]}),
    Case(2, 102, {"batches": [3, 5, 2]}),
    Case(4, 103, {"batches": [2, 2, 2, 2, 2], "buckets": "many"}),
    Case(5, 104, {"batches": [1, 6], "loss": "cross_entropy"}),
    Case(1, 105, {"batches": [4, 1]}),
    Case(3, 106, {"batches": [7]}),
    Case(2, 107, {"batches": [3, 4], "dtype": "float64"}),
    Case(2, 108, {"batches": [16, 64, 32], "width": 512, "buckets": "many"}),
)
