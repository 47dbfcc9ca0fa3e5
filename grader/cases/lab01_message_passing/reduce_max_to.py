"""Hidden cases of `reduce_max_to`."""

from distlab.exercises.exercise import Case
from grader.cases.lab01_message_passing.sizes import LARGE

HIDDEN = (
    Case(3, 101, {"dst": 1, "shape": [5]}),
    Case(3, 102, {"dst": 1, "shape": [5]}),
    Case(5, 103, {"dst": 4, "shape": [2, 3], "dtype": "float64", "shift": -9}),
    Case(4, 104, {"dst": 2, "dtype": "int64", "shift": -20}),
    Case(1, 105, {"dst": 0}),
    Case(2, 106, {"dst": 1, "shape": [20_000]}),
    Case(2, 107, {"dst": 1, "shape": [LARGE]}),
)
