"""Hidden cases of `run_blocking`."""

from distlab.exercises.exercise import Case

HIDDEN = (Case(2, 101), Case(2, 102), Case(2, 103, {"altered": True}))
