"""Hidden cases of `train`."""

from distlab.exercises.exercise import Case

HIDDEN = (
    Case(1, 101),
    Case(2, 102, {"rows": [3, 1, 6, 2], "lr": 0.2}),
    Case(2, 103, {"rows": [3, 1, 6, 2], "lr": 0.2}),
    Case(4, 104, {"rows": [5]}),
    Case(5, 105, {"rows": [2, 2], "lr": 0.01}),
    Case(3, 106, {"rows": []}),  # no batch: rank 0's weights all the same
    Case(2, 107, {"rows": [3] * 12, "lr": 0.05, "features": 7}),  # three weights have no gradient
)
