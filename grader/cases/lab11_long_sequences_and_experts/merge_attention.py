"""Hidden cases of `merge_attention`."""

from distlab.exercises.exercise import Case

HIDDEN = (
    Case(1, 101, {"shape": [2, 3, 5], "d": 3, "apart": 11.0}),
    Case(1, 102, {"shape": [7], "d": 1, "empty": True}),
    Case(1, 103, {"shape": [2, 12], "d": 5, "scale": 10_000.0}),
    Case(1, 104, {"shape": [3, 8], "d": 4, "dtype": "float64", "empty": True, "apart": 24.0}),
    Case(1, 105, {"shape": [9], "d": 4, "dtype": "float64", "scale": 10_000.0}),
    Case(1, 106, {"shape": [2, 16], "d": 3, "scale": 10_000.0, "empty": True}),
    Case(1, 107, {"shape": [4, 6], "d": 6, "scale": 120.0}),
    Case(1, 108, {"shape": [1], "d": 1, "empty": "first"}),
    Case(1, 109, {"shape": [2, 4, 4], "d": 4, "scale": 900.0, "dtype": "float64"}),
    Case(1, 110, {"shape": [1, 2, 1, 9], "d": 2, "empty": "second", "scale": 50.0}),
    Case(1, 111, {"shape": [5, 7], "d": 4, "dtype": "float64", "apart": 24.0}),
    # lse just above −1e4, which is no stand-in for −inf here
    Case(1, 112, {"shape": [4, 8], "d": 3, "scale": 4.0, "shift": -9995.0, "empty": True}),
)
