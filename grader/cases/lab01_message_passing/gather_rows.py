"""Hidden cases of `gather_rows`."""

from distlab.exercises.exercise import Case
from grader.cases.lab01_message_passing.sizes import LARGE

HIDDEN = (
    Case(3, 101, {"dst": 2, "width": 4}),
    Case(3, 102, {"dst": 2, "width": 4}),
    Case(5, 103, {"dst": 3, "width": 1, "dtype": "float64"}),
    Case(1, 104, {"dst": 0, "width": 3}),
    Case(4, 105, {"dst": 0, "width": 4, "dtype": "int64"}),
    Case(2, 106, {"dst": 1, "width": 10_000}),
    Case(2, 107, {"dst": 1, "width": LARGE}),
)
