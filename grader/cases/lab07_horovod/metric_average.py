"""Hidden cases of `metric_average`."""

from distlab.exercises.exercise import Case

HIDDEN = (
    Case(2, 101),
    Case(2, 102, {"again": True}),
    Case(5, 103, {"scale": 1000.0}),
    Case(1, 104),
    Case(4, 105, {"scale": 0.01}),
)
