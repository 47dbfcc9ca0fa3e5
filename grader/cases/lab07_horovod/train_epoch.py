"""Hidden cases of `train_epoch`."""

from distlab.exercises.exercise import Case

HIDDEN = (
    Case(2, 101, {"epoch": 3}),
    Case(2, 102, {"epoch": 3}),
    Case(4, 103, {"epoch": 7, "batches": 3, "batch_size": 5}),
    Case(1, 104, {"epoch": 1}),
    Case(5, 105, {"epoch": 2, "batches": 1, "batch_size": 8}),
)
