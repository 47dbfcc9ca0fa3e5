"""Hidden cases of `run_all_reduce`."""

from distlab.exercises.exercise import Case
from grader.cases.lab01_message_passing.sizes import LARGE

HIDDEN = (
    Case(3, 101, {"shape": [5]}),
    Case(3, 102, {"shape": [5]}),
    Case(5, 103, {"shape": [2, 3], "dtype": "float64"}),
    Case(4, 104, {"dtype": "int64"}),
    Case(1, 105),
    Case(2, 106, {"shape": [0]}),
    Case(2, 107, {"shape": [20_000]}),
    Case(2, 108, {"shape": [LARGE]}),
)
