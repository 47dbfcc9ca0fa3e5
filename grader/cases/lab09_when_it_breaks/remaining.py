"""Hidden cases of `remaining`."""

from distlab.exercises.exercise import Case

HIDDEN = (
    Case(2, 101, {"n": 31, "epoch": 2, "done": 9}),
    Case(2, 102, {"n": 31, "epoch": 2, "done": 9}),  # another seed, nothing else
    Case(3, 103, {"n": 17, "epoch": 0, "done": 0}),
    Case(5, 104, {"n": 40, "epoch": 11, "done": 38}),
    Case(1, 105, {"n": 25, "epoch": 1, "done": 24}),
    Case(4, 106, {"n": 1, "epoch": 5, "done": 0}),
    Case(2, 107, {"n": 0, "epoch": 5, "done": 0}),
    Case(4, 108, {"n": 2003, "epoch": 4, "done": 1001}),
)
