"""Hidden cases of `dispatch_combine`."""

from distlab.exercises.exercise import Case

HIDDEN = (
    Case(3, 101, {"tokens": [5, 5, 5], "d": 3}),
    Case(3, 102, {"tokens": [5, 5, 5], "d": 3}),
    Case(5, 103, {"tokens": [4, 0, 7, 1, 3], "d": 2, "dtype": "float64"}),
    Case(2, 104, {"tokens": [0, 0], "d": 4}),
    Case(4, 105, {"tokens": [6, 2, 0, 5], "d": 5, "to": 1}),
    Case(3, 106, {"tokens": [20, 30, 40], "d": 1}),
    Case(2, 107, {"tokens": [4, 3], "d": 2, "to": -1}),
    Case(1, 108, {"tokens": [6], "d": 3}),
    Case(3, 109, {"tokens": [40, 50, 60], "d": 16, "to": "next"}),
    Case(5, 110, {"tokens": [11, 12, 13, 14, 15], "d": 8, "to": "kept"}),
    Case(1, 111, {"tokens": [0], "d": 2}),
    Case(2, 112, {"tokens": [3000, 2000], "d": 512}),
)
