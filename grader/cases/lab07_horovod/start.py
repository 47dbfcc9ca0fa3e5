"""Hidden cases of `start`."""

from distlab.exercises.exercise import Case

HIDDEN = (
    Case(2, 101),
    Case(2, 102, {"use_cuda": True, "gpus": 4}),
    Case(4, 103, {"use_cuda": False, "gpus": 2, "per_node": 2}),
    Case(3, 104, {"use_cuda": True, "gpus": 2, "per_node": 2}),
    Case(1, 105),
)
