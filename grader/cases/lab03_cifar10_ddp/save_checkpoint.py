"""Hidden cases of `save_checkpoint`."""

from distlab.exercises.exercise import Case

HIDDEN = (
    Case(2, 101, {"epoch": 41}),
    Case(4, 102, {"wrapped": True, "width": 9}),
    Case(1, 103, {"epoch": 0, "file": "none"}),  # the first save
    Case(1, 104, {"file": "failing", "width": 9000, "wrapped": True}),
)
