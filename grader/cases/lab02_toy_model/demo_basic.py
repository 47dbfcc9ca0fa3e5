"""Hidden cases of `demo_basic`."""

from distlab.exercises.exercise import Case

HIDDEN = (
    Case(1, 101),
    Case(3, 102),
    Case(3, 103),
    Case(5, 104, {"rows": 1}),
    Case(2, 105, {"rows": 64, "features": 7}),
)
