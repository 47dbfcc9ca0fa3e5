"""Hidden cases of `balance_loss`."""

from distlab.exercises.exercise import Case

HIDDEN = (
    Case(3, 101, {"tokens": [5, 2, 9], "experts": 4}),
    Case(3, 102, {"tokens": [5, 2, 9], "experts": 4}),
    Case(5, 103, {"tokens": [3, 0, 8, 1, 4], "experts": 5, "dtype": "float64"}),
    Case(1, 104, {"tokens": [7], "experts": 3}),
    Case(2, 105, {"tokens": [0, 6], "experts": 1}),
    Case(4, 106, {"tokens": [4, 4, 4, 4], "experts": 8, "kept": 1.0}),
    Case(2, 107, {"tokens": [3, 5], "experts": 2, "kept": 0.0}),
    Case(2, 108, {"tokens": [20_000, 30_000], "experts": 8}),
    Case(4, 109, {"tokens": [1, 0, 0, 0], "experts": 2, "kept": 0.5}),
)
