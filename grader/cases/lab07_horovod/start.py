"""Hidden cases of `start`."""

from distlab.exercises.exercise import Case

HIDDEN = (
    Case(2, 101),
    Case(2, 102, {"use_cuda": True, "gpus": 4}),
    Case(4, 103, {"use_cuda": False, "gpus": 2, "per_node": 2}),
    # the local rank is no remainder of the rank, neither by GPUs nor by workers of the machine
    Case(5, 104, {"use_cuda": True, "gpus": 4, "per_node": 3}),
    Case(1, 105, {"seed": 0}),
)
