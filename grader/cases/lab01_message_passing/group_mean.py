"""Hidden cases of `group_mean`."""

from distlab.exercises.exercise import Case
from grader.cases.lab01_message_passing.sizes import LARGE

HIDDEN = (
    Case(3, 101, {"members": [2, 0], "shape": [5]}),
    Case(3, 102, {"members": [2, 0], "shape": [5]}),
    Case(5, 103, {"members": [4, 1, 3], "shape": [2, 3], "dtype": "float64"}),
    Case(4, 104, {"members": [0, 1, 2, 3]}),
    Case(5, 105, {"members": [3]}),
    Case(1, 106, {"members": [0]}),
    Case(4, 107, {"members": [3, 2, 1], "shape": [0]}),
    Case(2, 108, {"members": [1], "shape": [20_000]}),
    Case(3, 109, {"members": [1, 2, 0], "shape": [3]}),
    Case(2, 110, {"members": [1, 0], "shape": [LARGE]}),
)
