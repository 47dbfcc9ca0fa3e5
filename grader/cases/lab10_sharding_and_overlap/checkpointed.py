"""Hidden cases of `checkpointed`."""

from distlab.exercises.exercise import Case

HIDDEN = (
    Case(1, 101, {"stages": ["linear"] * 6, "every": 2}),
    Case(1, 102, {"stages": ["linear", "dropout", "wide", "tanh", "linear"], "every": 3}),
    Case(1, 103, {"stages": ["wide", "norm", "linear", "dropout"], "every": 1}),
    Case(1, 104, {"stages": ["linear", "wide", "linear"], "every": 5}),
    Case(
        1,
        105,
        {
            "stages": ["dropout", "linear", "dropout", "wide", "linear", "dropout", "linear"],
            "every": 2,
            "forwards": 3,
        },
    ),
    Case(
        1,
        106,
        {
            "stages": ["linear", "linear", "linear", "linear"],
            "every": 2,
            "leaf": False,
            "dtype": "float64",
        },
    ),
    Case(1, 107, {"stages": ["linear"], "every": 1}),
    Case(1, 108, {"stages": ["wide", "wide", "wide", "wide", "wide"], "every": 4}),
    Case(1, 109, {"stages": ["linear", "dropout"] * 3, "every": 3, "leaf": False}),
)
