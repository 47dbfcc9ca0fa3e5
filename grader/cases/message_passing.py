"""Hidden cases of lab 01."""

from distlab.exercises import Case

HIDDEN = {
    "exchange": (
        Case(2, 101, {"shape": [5]}),
        Case(2, 102, {"shape": [5]}),  # the same shape again: what is returned must not be reused
        Case(4, 103, {"dtype": "int64"}),
        Case(4, 104, {"shape": [0]}),
        Case(2, 105, {"shape": [3, 4], "dtype": "float64"}),
        Case(2, 106, {"shape": [70_000]}),
    ),
}
