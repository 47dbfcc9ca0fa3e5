"""Hidden cases of `make_feeding_loader`."""

from distlab.exercises.exercise import Case

HIDDEN = (
    Case(2, 101, {"shards": 7}),
    Case(2, 102, {"shards": 7, "left": True}),
    Case(1, 103, {"shards": 2, "form": "both", "epochs": 3}),
    Case(3, 104, {"shards": 8, "form": "jpg", "batch_size": 4}),
)
