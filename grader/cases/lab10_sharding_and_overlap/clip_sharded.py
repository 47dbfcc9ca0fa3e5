"""Hidden cases of `clip_sharded`."""

from distlab.exercises.exercise import Case

HIDDEN = (
    Case(2, 101, {"shapes": [[[2, 3], [3]], [[4]]], "max_norm": 1.0}),
    Case(2, 102, {"shapes": [[[2, 3], [3]], [[4]]], "share": 1.1}),
    Case(
        4,
        103,
        {"shapes": [[], [[3, 2]], [], [[1], [], [2, 2]]], "max_norm": 0.1, "dtype": "float64"},
    ),
    Case(1, 104, {"shapes": [[[4], [2, 2]]], "max_norm": 0.5}),
    Case(3, 105, {"shapes": [[[4]], [[2, 2]], [[3]]], "max_norm": 1e-6, "scale": 1e-6}),
    Case(5, 106, {"shapes": [[[1]], [[2]], [[3]], [[4]], [[5]]], "share": 0.9995}),
    Case(2, 107, {"shapes": [[], []], "max_norm": 1.0}),
    Case(3, 108, {"shapes": [[[3]], [[0]], [[2]]], "max_norm": 1.0, "scale": 0.0}),
    Case(2, 109, {"shapes": [[[1000, 1200]], [[700, 1000], [9]]], "max_norm": 3.0}),
    Case(3, 110, {"shapes": [[[0]], [], [[6]]], "max_norm": 1.0}),
    # shorter than max_norm, but not with the 1e-6 added
    Case(2, 111, {"shapes": [[[4]], [[2, 2], [3]]], "share": 1.1, "scale": 1e-6}),
)
