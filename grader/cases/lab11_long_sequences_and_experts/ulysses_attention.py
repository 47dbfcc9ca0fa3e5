"""Hidden cases of `ulysses_attention`."""

from distlab.exercises.exercise import Case

HIDDEN = (
    Case(3, 101, {"heads": 6, "n": 4, "d": 3, "causal": True}),
    Case(3, 102, {"heads": 6, "n": 4, "d": 3, "causal": True}),
    Case(5, 103, {"heads": 5, "n": 3, "d": 2}),
    Case(4, 104, {"heads": 4, "n": 4, "d": 4, "causal": True}),
    Case(1, 105, {"heads": 3, "n": 4, "d": 2, "causal": True}),
    Case(1, 106, {"heads": 1, "n": 1, "d": 1}),
    Case(2, 107, {"heads": 2, "n": 1, "d": 9, "dtype": "float64"}),
    Case(4, 108, {"heads": 8, "n": 2, "d": 1, "dtype": "float64", "causal": True}),
    Case(3, 109, {"heads": 3, "n": 6, "d": 4, "steep": 30, "dtype": "float64"}),
    Case(2, 110, {"heads": 4, "n": 64, "d": 1024}),  # few scores: element by element is right
    # a row may see scores of −1e4 alone: what it must not see is hidden by −inf, or nearly that
    Case(3, 111, {"heads": 6, "n": 4, "d": 4, "steep": 300, "dtype": "float64", "causal": True}),
)
