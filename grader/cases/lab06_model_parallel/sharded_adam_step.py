"""Hidden cases of `sharded_adam_step`."""

from distlab.exercises.exercise import Case
from grader.cases.lab06_model_parallel.sizes import LARGE

HIDDEN = (
    Case(2, 101, {"shapes": [[4, 3], [3]], "steps": 3}),
    Case(4, 102, {"shapes": [[30, 20], [5], [3, 2], [1]], "steps": 8}),
    Case(5, 103, {"shapes": [[7, 7], [7], [13]], "steps": 5, "dtype": "float64"}),
    Case(1, 104, {"shapes": [[5, 2], [2]], "steps": 4}),
    Case(5, 105, {"shapes": [[2], []], "steps": 3}),
    Case(3, 106, {"shapes": [[3], [40, 10], [4]], "steps": 25}),
    Case(4, 107, {"shapes": [[6], [0, 3], [2, 5]], "steps": 2}),
    Case(2, 108, {"shapes": [[60, 50], [50]], "steps": 3}),
    Case(2, 109, {"shapes": [[8 * LARGE], [7]], "steps": 1}),
)
