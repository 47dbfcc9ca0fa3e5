"""Hidden cases of `run_demo`."""

from distlab.exercises.exercise import Case

HIDDEN = (Case(1, 101, {"world_size": 3, "fails": 2, "script": True}),)
