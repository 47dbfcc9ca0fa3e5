"""Hidden cases of `evaluate`."""

from distlab.exercises.exercise import Case

HIDDEN = (
    Case(2, 101, {"n": 11}),
    Case(2, 102, {"n": 11}),
    Case(5, 103, {"n": 3, "wrapped": True}),
    Case(4, 104, {"n": 1}),
    Case(3, 105, {"n": 101, "batch_size": 7}),
    Case(1, 106, {"n": 9, "batch_size": 2, "wrapped": True}),
    Case(4, 107, {"n": 64, "batch_size": 16}),
    Case(2, 108, {"n": 700, "batch_size": 50}),  # more right answers than a byte can count
)
