"""Hidden cases of `setup`."""

from distlab.exercises.exercise import Case

HIDDEN = (
    Case(1, 101, {"gpus": 1}),
    Case(1, 102, {"gpus": 0}),
    Case(4, 103, {"gpus": 3}),
    Case(4, 104, {"gpus": 8}),
    Case(5, 105, {"gpus": 1}),
    Case(2, 106, {"gpus": 1}),
    Case(3, 107, {"gpus": 3}),
)
