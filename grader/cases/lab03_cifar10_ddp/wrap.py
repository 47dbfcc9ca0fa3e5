"""Hidden cases of `wrap`."""

from distlab.exercises.exercise import Case

HIDDEN = (
    Case(2, 101, {"index": 3}),
    Case(2, 102, {"index": 3}),
    Case(5, 103, {"features": 7}),
    Case(1, 104, {"index": 2}),
    Case(3, 105, {"features": 300, "n": 2}),
)
