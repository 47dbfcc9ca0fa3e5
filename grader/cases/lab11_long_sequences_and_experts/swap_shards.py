"""Hidden cases of `swap_shards`."""

from distlab.exercises.exercise import Case

HIDDEN = (
    Case(3, 101, {"to": "heads", "n": 2, "heads": 6, "d": 4}),
    Case(3, 102, {"to": "heads", "n": 2, "heads": 6, "d": 4}),
    Case(3, 103, {"to": "sequence", "n": 2, "heads": 6, "d": 4}),
    Case(5, 104, {"to": "sequence", "n": 3, "heads": 5, "d": 2, "dtype": "float64"}),
    Case(4, 105, {"to": "heads", "n": 1, "heads": 8, "d": 3, "dtype": "int64"}),
    Case(1, 106, {"to": "heads", "n": 3, "heads": 2, "d": 2}),
    Case(1, 107, {"to": "sequence", "n": 3, "heads": 1, "d": 2}),
    Case(2, 108, {"to": "sequence", "n": 3, "heads": 2, "d": 1, "dtype": "int64"}),
    Case(5, 109, {"to": "heads", "n": 5, "heads": 5, "d": 1}),
    Case(4, 110, {"to": "sequence", "n": 4, "heads": 4, "d": 4}),
    Case(2, 111, {"to": "heads", "n": 1024, "heads": 16, "d": 64}),
    Case(2, 112, {"to": "sequence", "n": 1024, "heads": 16, "d": 64}),
)
