"""Hidden cases of `hybrid_step`."""

from distlab.exercises.exercise import Case

HIDDEN = (
    Case(4, 101, {"replicas": 2, "length": 3}),
    Case(4, 102, {"replicas": 2, "length": 3}),
    Case(4, 103, {"replicas": 1, "length": 2, "dtype": "float64"}),
    Case(4, 104, {"replicas": 4, "length": 5}),
    Case(5, 105, {"replicas": 1, "length": 1}),
    Case(1, 106, {"replicas": 1, "length": 4}),
    Case(4, 107, {"replicas": 2, "length": 600_000}),
    Case(3, 108, {"replicas": 3, "length": 2}),
    Case(4, 109, {"replicas": 2, "length": 4, "still": [1, 3]}),
    Case(2, 110, {"replicas": 1, "length": 7, "dtype": "float64"}),
)
