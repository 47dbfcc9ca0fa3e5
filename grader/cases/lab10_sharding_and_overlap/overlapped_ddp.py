"""Hidden cases of `overlapped_ddp`."""

from distlab.exercises.exercise import Case

HIDDEN = (
    Case(2, 101, {"models": [{"widths": [3, 5, 4, 2], "bytes": 100}], "steps": 4}),
    Case(
        3,
        102,
        {"models": [{"widths": [4, 6, 3, 5, 2], "bytes": 70, "order": [2, 0, 3, 1]}], "steps": 4},
    ),
    Case(
        4,
        103,
        {
            "models": [{"widths": [3, 4, 4, 2], "bytes": 128, "frozen": [1], "twice": [1]}],
            "dtype": "float64",
        },
    ),
    Case(
        2,
        104,
        {
            "models": [
                {"widths": [3, 4, 3], "bytes": 1},
                {"widths": [2, 5, 2], "bytes": 60, "order": [1, 0]},
            ],
            "steps": 3,
        },
    ),
    Case(1, 105, {"models": [{"widths": [3, 4, 2], "bytes": 50}]}),
    Case(3, 106, {"models": [{"widths": [3, 5, 4, 2], "bytes": 90, "empty": True}], "still": [2]}),
    Case(5, 107, {"models": [{"widths": [2, 3, 2], "bytes": 10_000}]}),
    Case(2, 108, {"models": [{"widths": [500, 1500, 700], "bytes": 2_000_000}], "steps": 2}),
    Case(2, 109, {"models": [{"widths": [3, 4, 5, 2], "bytes": 88}], "still": [0]}),
    Case(2, 110, {"models": [{"widths": [4, 4, 4, 4], "bytes": 64, "frozen": [0, 2]}]}),
    Case(2, 111, {"models": [{"widths": [3, 5, 4, 2], "bytes": 17}]}),  # no whole elements
)
