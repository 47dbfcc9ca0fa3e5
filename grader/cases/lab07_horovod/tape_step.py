"""Hidden cases of `tape_step`."""

from distlab.exercises.exercise import Case

HIDDEN = (
    Case(2, 101),
    Case(2, 102),
    Case(3, 103, {"rows": 7, "momentum": 0.0}),
    Case(2, 104, {"optimizer": "Adam", "lr": 0.01}),
    Case(1, 105),
)
