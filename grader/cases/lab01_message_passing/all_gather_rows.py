"""Hidden cases of `all_gather_rows`."""

from distlab.exercises.exercise import Case
from grader.cases.lab01_message_passing.sizes import LARGE

HIDDEN = (
    Case(3, 101, {"width": 4}),
    Case(3, 102, {"width": 4}),
    Case(5, 103, {"width": 1, "dtype": "float64"}),
    Case(1, 104, {"width": 3}),
    Case(4, 105, {"width": 4, "dtype": "int64"}),
    Case(2, 106, {"width": 10_000}),
    Case(2, 107, {"width": LARGE}),
)
