"""Hidden cases of `broadcast_from`."""

from distlab.exercises.exercise import Case
from grader.cases.lab01_message_passing.sizes import LARGE

HIDDEN = (
    Case(3, 101, {"src": 2, "shape": [5]}),
    Case(3, 102, {"src": 2, "shape": [5]}),
    Case(5, 103, {"src": 4, "shape": [2, 3], "dtype": "float64"}),
    Case(4, 104, {"src": 1, "dtype": "int64"}),
    Case(1, 105, {"src": 0}),
    Case(2, 106, {"src": 1, "shape": [0]}),
    Case(2, 107, {"src": 1, "shape": [40_000]}),
    Case(2, 108, {"src": 1, "shape": [LARGE]}),
)
