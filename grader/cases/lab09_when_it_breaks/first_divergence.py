"""Hidden cases of `first_divergence`."""

from distlab.exercises.exercise import Case

HIDDEN = (
    *(
        Case(1, seed, {"ranks": ranks})
        for seed, ranks in ((101, 2), (102, 3), (103, 4), (104, 5), (105, 8), (106, 6))
    ),
    Case(1, 107, {"ranks": 1, "times": 8}),
    Case(1, 108, {"ranks": 64, "times": 10}),
)
