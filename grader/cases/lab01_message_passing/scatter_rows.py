"""Hidden cases of `scatter_rows`."""

from distlab.exercises.exercise import Case
from grader.cases.lab01_message_passing.sizes import LARGE

HIDDEN = (
    Case(3, 101, {"src": 1, "width": 4}),
    Case(3, 102, {"src": 1, "width": 4}),
    Case(5, 103, {"src": 2, "width": 1}),
    Case(1, 104, {"src": 0, "width": 3}),
    Case(4, 105, {"src": 0, "width": 4}),
    Case(2, 106, {"src": 1, "width": 10_000}),
    Case(2, 107, {"src": 1, "width": LARGE}),
)
