"""Hidden cases of `sequence_parallel_mlp`."""

from distlab.exercises.exercise import Case

HIDDEN = (
    Case(3, 101, {"n": 2, "d": 4, "hidden": 9}),
    Case(3, 102, {"n": 2, "d": 4, "hidden": 9}),
    # far from 0, where gelu is x or 0, and a float32 √2 in it, which is right, makes no difference
    Case(5, 103, {"n": 3, "d": 2, "hidden": 5, "dtype": "float64", "scale": 1e4}),
    Case(4, 104, {"n": 1, "d": 1, "hidden": 8}),
    Case(1, 105, {"n": 3, "d": 2, "hidden": 4}),
    Case(2, 106, {"n": 4, "d": 4, "hidden": 8}),
    Case(4, 107, {"n": 4, "d": 4, "hidden": 16}),
    Case(2, 108, {"n": 1024, "d": 1024, "hidden": 128}),
)
