"""Hidden cases of `average_gradients`."""

from distlab.exercises.exercise import Case

HIDDEN = (
    Case(1, 101),
    Case(3, 102, {"unused": True}),
    Case(3, 103, {"unused": True, "apart": True}),  # whoever averages weights changes them
    Case(5, 104, {"sizes": [4, 1], "rows": 1}),
    Case(2, 105, {"dtype": "float64"}),
    Case(4, 106, {"frozen": True, "unused": True, "sizes": [6, 4, 4, 2]}),
    Case(2, 107, {"sizes": [100, 60]}),
    Case(3, 108, {"zero": [1]}),  # a gradient of zeros takes part as any other
    Case(4, 109, {"zero": [0, 3], "unused": True}),
    Case(2, 110, {"sizes": [32 * 4096, 9], "rows": 1}),  # 4.7 MB in one gradient
)
