"""Hidden cases of `fsdp_step`."""

from distlab.exercises.exercise import Case

HIDDEN = (
    Case(2, 101, {"widths": [3, 5, 4, 6, 2], "rows": 4}),
    Case(2, 102, {"widths": [3, 5, 4, 6, 2], "rows": 4}),
    Case(3, 103, {"widths": [4, 7, 3, 8, 5], "rows": 5, "dtype": "float64"}),
    Case(4, 104, {"widths": [5, 4], "rows": 2}),
    Case(5, 105, {"widths": [4, 5, 7], "rows": 1}),
    Case(1, 106, {"widths": [3, 6, 5, 2], "rows": 3}),
    Case(3, 107, {"widths": [5, 6, 4, 7], "rows": 3, "still": [1]}),
    Case(2, 108, {"widths": [6, 6, 6, 6, 6, 6], "rows": 7}),
    Case(2, 109, {"widths": [900, 1200, 800, 16], "rows": 4, "scale": 40}),
)
