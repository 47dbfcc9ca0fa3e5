"""Hidden cases of `parameter_server`."""

from distlab.exercises.exercise import Case

HIDDEN = (
    Case(1, 101, {"steps": 1, "killed": None}),
    Case(1, 102, {"steps": 12, "killed": 0}),
)
