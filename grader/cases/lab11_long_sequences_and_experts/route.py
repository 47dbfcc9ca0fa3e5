"""Hidden cases of `route`."""

from distlab.exercises.exercise import Case

HIDDEN = (
    Case(1, 101, {"tokens": 20, "experts": 4, "capacity": 4}),
    Case(1, 102, {"tokens": 0, "experts": 3, "capacity": 2}),
    Case(1, 103, {"tokens": 9, "experts": 3, "capacity": 0}),
    Case(1, 104, {"tokens": 30, "experts": 5, "capacity": 100, "kind": "ties"}),
    Case(1, 105, {"tokens": 20, "experts": 4, "capacity": 2, "kind": "ties"}),
    Case(1, 106, {"tokens": 16, "experts": 3, "capacity": 5, "kind": "close", "dtype": "float64"}),
    Case(1, 107, {"tokens": 5, "experts": 1, "capacity": 3}),
    Case(1, 108, {"tokens": 7, "experts": 6, "capacity": 7, "kind": "one", "expert": 5}),
    Case(1, 109, {"tokens": 1, "experts": 2, "capacity": 1, "dtype": "float64"}),
    Case(1, 110, {"tokens": 64, "experts": 8, "capacity": 8, "dtype": "float64", "kind": "low"}),
    Case(1, 111, {"tokens": 600, "experts": 2, "capacity": 280}),
    Case(1, 112, {"tokens": 40, "experts": 200, "capacity": 1, "kind": "ties"}),
)
