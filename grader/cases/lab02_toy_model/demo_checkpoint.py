"""Hidden cases of `demo_checkpoint`."""

from distlab.exercises.exercise import Case

HIDDEN = (
    Case(1, 101),
    Case(2, 102, {"older_file": True}),
    Case(4, 103),
    Case(5, 104, {"older_file": True}),
)
