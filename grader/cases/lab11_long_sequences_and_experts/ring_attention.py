"""Hidden cases of `ring_attention`."""

from distlab.exercises.exercise import Case

HIDDEN = (
    Case(3, 101, {"n": 6, "d": 3, "causal": True}),
    Case(3, 102, {"n": 6, "d": 3, "causal": True}),
    Case(5, 103, {"heads": 3, "n": 5, "d": 2}),
    Case(5, 104, {"heads": 2, "n": 6, "d": 1, "causal": True}),
    Case(1, 105, {"heads": 2, "n": 4, "d": 2, "causal": True}),
    Case(1, 106, {"heads": 1, "n": 2, "d": 1}),
    Case(2, 107, {"heads": 2, "n": 8, "d": 4, "dtype": "float64", "causal": True}),
    Case(3, 108, {"heads": 2, "n": 8, "d": 4, "steep": 30, "dtype": "float64", "causal": True}),
    Case(2, 109, {"heads": 2, "n": 6, "d": 1, "steep": 30, "dtype": "float64"}),
    Case(4, 110, {"heads": 1, "n": 8, "d": 4, "causal": True}),
    Case(4, 111, {"heads": 3, "n": 16, "d": 5}),
    Case(2, 112, {"heads": 16, "n": 256, "d": 128, "causal": True}),
    # a row may see scores of −1e4 alone: what it must not see is hidden by −inf, or nearly that
    Case(2, 113, {"heads": 6, "n": 8, "d": 4, "steep": 300, "dtype": "float64", "causal": True}),
)
