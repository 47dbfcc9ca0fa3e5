"""Hidden cases of `exchange`."""

from distlab.exercises.exercise import Case
from grader.cases.lab01_message_passing.sizes import LARGE

HIDDEN = (
    Case(2, 101, {"shape": [5]}),
    Case(2, 102, {"shape": [5]}),
    Case(4, 103, {"dtype": "int64"}),
    Case(2, 104, {"shape": [3, 4], "dtype": "float64"}),
    Case(2, 105, {"shape": [70_000]}),
    Case(2, 106, {"shape": [LARGE]}),
)
