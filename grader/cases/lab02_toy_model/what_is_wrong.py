"""Hidden cases of `what_is_wrong`."""

from distlab.exercises.exercise import Case

HIDDEN = (Case(1, 101, {"judged": True}),)
