"""Hidden cases of `save_sharded`."""

from distlab.exercises.exercise import Case

HIDDEN = (
    Case(1, 101, {"lengths": [6], "left": "halves"}),
    # rank 0 comes late, and the folder is not there yet
    Case(4, 104, {"lengths": [3, 0, 0, 9], "view": True, "step": 0}),
    Case(2, 103, {"lengths": [40_000, 40_000], "fails": 0}),
    Case(3, 105, {"lengths": [50, 60, 70], "left": "whole files", "step": 120}),
    Case(3, 106, {"lengths": [40_000, 40_000, 40_000], "fails": 1, "view": True}),
    Case(5, 109, {"lengths": [0, 8, 1, 2, 4], "left": "a folder"}),
    Case(1, 110, {"lengths": [40_000], "fails": 0, "step": 1000}),
)
