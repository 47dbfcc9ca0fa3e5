"""Hidden cases of `load_checkpoint`."""

from distlab.exercises.exercise import Case

HIDDEN = (
    Case(2, 101, {"epoch": 41}),
    Case(2, 102, {"epoch": 41}),
    Case(3, 103, {"wrapped": True, "width": 9}),
    Case(1, 104, {"file": "from a GPU"}),
    Case(2, 105, {"file": "missing", "wrapped": True}),
    Case(2, 106, {"file": "truncated", "wrapped": True}),
    Case(1, 107, {"file": "empty"}),
    Case(1, 108, {"file": "text"}),
    Case(1, 109, {"file": "list"}),
    Case(1, 110, {"file": "without optimizer"}),
    Case(1, 111, {"file": "without model"}),
)
